import type { Config } from '@tandem/server';
import type { Finding } from './finding.ts';

/** How long a provider may take to list its models. */
const PROVIDER_MS = 8_000;

/** Whether every provider answers, and takes its key. */
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
      mend: 'Set OPENAI_API_KEY, OPENROUTER_API_KEY or GEMINI_API_KEY, start Ollama or LM Studio, or write a tandem.yaml.',
    };
  }
  const headers: Record<string, string> = { accept: 'application/json' };
  for (const [name, secret] of Object.entries(provider.headers)) headers[name] = secret.reveal();
  if (provider.apiKey) headers['authorization'] = `Bearer ${provider.apiKey.reveal()}`;
  let status: number;
  try {
    const signal = AbortSignal.timeout(PROVIDER_MS);
    const answer = await fetched(`${provider.baseUrl}/models`, { headers, signal, redirect: 'error' });
    ({ status } = answer);
    await answer.body?.cancel();
  } catch (error) {
    return {
      about,
      state: 'broken',
      says: `${provider.baseUrl} cannot be reached (${reasonOf(error)})`,
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
  if (status === 200) return { about, state: 'ok', says: `${provider.baseUrl} answers and takes the key` };
  return {
    about,
    state: 'warning',
    says: `${provider.baseUrl} answers ${status} when asked for its models`,
    mend: 'Where a provider has no list of models, write them under models in the config.',
  };
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: unknown } }).cause;
  if (typeof cause?.code === 'string') return cause.code;
  return error instanceof Error && error.name === 'TimeoutError' ? 'no answer' : 'no connection';
}
