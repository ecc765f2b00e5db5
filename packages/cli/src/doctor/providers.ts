import { connectionWords, keyHeaders, providerTypeOf } from '@tandem/server';
import type { Config } from '@tandem/server';
import type { Finding } from './finding.ts';

/** How long a provider may take to list its models. */
const PROVIDER_MS = 8_000;
/** The longest list of models; a longer answer is none. */
const LIST_BYTES = 16 * 1024 * 1024;
/** What brings a whole list, where it comes in pages. */
const PAGE: Readonly<Record<string, string>> = { messages: '?limit=1000', gemini: '?pageSize=1000' };
/** Of so many models at most a name is said. */
const NAMED = 5;

/** Whether every provider answers, takes its key, and lists the models that the config names. */
export function examineProviders(config: Config, fetched: typeof fetch = fetch): Promise<Finding[]> {
  return Promise.all(config.providers.map(provider => examineProvider(provider, fetched)));
}

async function examineProvider(provider: Config['providers'][number], fetched: typeof fetch): Promise<Finding> {
  const about = `provider ${provider.name}`;
  if (provider.type === 'demo') {
    return {
      about,
      state: 'warning',
      says: 'the demo model, which is no language model',
      mend: 'Set OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY or GEMINI_API_KEY, start Ollama or LM Studio, or write a tandem.yaml.',
    };
  }
  const { listsModels, wire } = providerTypeOf(provider.type);
  if (!listsModels) {
    return {
      about,
      state: 'warning',
      says: `providers of type ${provider.type} have no list of models, so neither address nor key can be looked at`,
      mend: `A turn tells: tandem run --model ${provider.name}/${provider.models[0]?.id ?? 'ID'} "Hello"`,
    };
  }
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...keyHeaders(provider.type, provider.apiKey?.reveal()),
  };
  for (const [name, secret] of Object.entries(provider.headers)) headers[name] = secret.reveal();
  let status: number;
  let listed: ReadonlySet<string> | undefined;
  try {
    const signal = AbortSignal.timeout(PROVIDER_MS);
    const answer = await fetched(`${provider.baseUrl}/models${PAGE[wire] ?? ''}`, {
      headers,
      signal,
      redirect: 'error',
    });
    ({ status } = answer);
    if (answer.ok) listed = listedIn(await readBody(answer));
    else await answer.body?.cancel();
  } catch (error) {
    return {
      about,
      state: 'broken',
      says: `${provider.baseUrl} cannot be reached: ${connectionWords(error)}`,
      mend: 'Start it, mend its baseUrl in the config, or see whether a proxy or firewall stands between.',
    };
  }
  if (status === 401 || status === 403) {
    return {
      about,
      state: 'broken',
      says: `${provider.baseUrl} refuses the key (${status})`,
      mend: `Give a valid apiKey for ${provider.name}, in the config or in its environment variable.`,
    };
  }
  if (status === 200) return examineModels(provider, listed);
  return {
    about,
    state: 'warning',
    says: `${provider.baseUrl} answers ${status} when asked for its models`,
    mend: 'Where a provider has no list of models, write them under models in the config.',
  };
}

type Remote = Exclude<Config['providers'][number], { type: 'demo' }>;

/** Compares the models of the config with those that the provider lists; without a list of ids there is nothing to compare. */
function examineModels({ name, baseUrl, models }: Remote, listed: ReadonlySet<string> | undefined): Finding {
  const about = `provider ${name}`;
  const unknown = models.map(({ id }) => id).filter(id => listed && !listed.has(id) && !listed.has(`${id}:latest`));
  if (!listed || unknown.length === 0) {
    const known = listed && models.length > 0 ? ', and lists every model of the config' : '';
    return { about, state: 'ok', says: `${baseUrl} answers and takes the key${known}` };
  }
  const has = listed.size === 0 ? 'It lists none.' : `It lists ${named([...listed])}.`;
  return {
    about,
    state: 'warning',
    says: `${baseUrl} answers and takes the key, but does not list ${named(unknown)}`,
    mend: `${has} Mend the ids under providers.${name}.models in the config, unless the provider takes more than it lists.`,
  };
}

function named(ids: readonly string[]): string {
  const rest = ids.length - NAMED;
  return rest > 0 ? `${ids.slice(0, NAMED).join(', ')} and ${rest} more` : ids.join(', ');
}

/** The ids of a list of models, in the forms that providers have for it; undefined when it is none. */
function listedIn(text: string | undefined): ReadonlySet<string> | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text ?? '');
  } catch {
    return undefined; // it answers, and what it lists cannot be known
  }
  const { data, models } = (body ?? {}) as { data?: unknown; models?: unknown };
  const entries = [body, data, models].find(Array.isArray);
  if (!entries) return undefined;
  const ids = (entries as ({ id?: unknown; name?: unknown } | null)[]).map(entry => entry?.id ?? entry?.name);
  return new Set(ids.flatMap(id => (typeof id === 'string' ? id.replace(/^models\//, '') : [])));
}

async function readBody(answer: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.length > LIST_BYTES) return undefined;
  }
  return text;
}
