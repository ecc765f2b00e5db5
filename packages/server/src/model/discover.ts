import type { RemoteType } from '../config/provider-types.ts';
import { knownModel } from './known-models.ts';
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_OUTPUT, LIST_MODELS_BYTES, LIST_MODELS_MS } from './limits.ts';
import type { ModelInfo, ModelPrice } from './port.ts';
import type { Fetch } from './provider-fetch.ts';
import { providerFetch } from './provider-fetch.ts';

/** A provider that is asked for its models. */
export interface ListedProvider {
  readonly name: string;
  readonly type: RemoteType;
  readonly baseUrl: string;
  /** Its key among them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What makes a list come whole, for providers that give it in pages. */
const PAGES: { readonly [type in RemoteType]?: string } = { anthropic: '?limit=1000', google: '?pageSize=1000' };

/** What providers list besides models that hold a conversation. */
const NO_CHAT =
  /embed|whisper|\btts\b|dall-e|moderation|-image\b|imagen|\bveo\b|sora|transcribe|realtime|-audio\b|babbage|davinci|rerank|\baqa\b|computer-use/i;

/**
 * Asks a provider for its models (`GET /models`), within two seconds.
 * @throws Error with a sentence on what went wrong.
 */
export async function listModels(provider: ListedProvider, fetch: Fetch = providerFetch): Promise<ModelInfo[]> {
  const response = await fetch(`${provider.baseUrl}/models${PAGES[provider.type] ?? ''}`, {
    headers: { ...provider.headers },
    signal: AbortSignal.timeout(LIST_MODELS_MS),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}`);
  }
  const list = parseList(await readText(response));
  const entries: unknown = Array.isArray(list) ? list : (list?.data ?? list?.models);
  if (!Array.isArray(entries)) throw new Error('its answer holds no list of models');
  const models = new Map<string, ModelInfo>();
  for (const entry of entries as unknown[]) {
    const model = readEntry(provider, entry);
    if (model && !models.has(model.id)) models.set(model.id, model);
  }
  return [...models.values()];
}

function parseList(text: string): { data?: unknown; models?: unknown } | unknown[] | null {
  try {
    return JSON.parse(text) as { data?: unknown } | unknown[] | null;
  } catch (error) {
    throw new Error('its answer is no JSON', { cause: error });
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.length > LIST_MODELS_BYTES) throw new Error('its list of models is too long');
  }
  return text;
}

/** One entry, with what the different lists tell besides the id. */
function readEntry({ name: provider, type }: ListedProvider, entry: unknown): ModelInfo | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const fields = entry as Record<string, unknown>;
  const named = fields['id'] ?? fields['name'];
  if (typeof named !== 'string' || named === '' || NO_CHAT.test(named)) return undefined;
  const methods = fields['supportedGenerationMethods'];
  if (Array.isArray(methods) && !methods.includes('generateContent')) return undefined;
  const id = named.replace(/^models\//, '');
  const known = type === 'openai-compatible' ? undefined : knownModel(id);
  const top = (fields['top_provider'] ?? {}) as Record<string, unknown>;
  const modalities = (fields['architecture'] as { input_modalities?: unknown } | undefined)?.input_modalities;
  const window =
    count(fields, 'context_length', 'context_window', 'max_model_len', 'max_context_length', 'inputTokenLimit') ??
    count(top, 'context_length');
  const output = count(fields, 'max_completion_tokens', 'outputTokenLimit') ?? count(top, 'max_completion_tokens');
  const supported = fields['supported_parameters'];
  const price = readPrice(fields['pricing']);
  const hasEffort = Array.isArray(supported) ? supported.includes('reasoning') : HOSTED_EFFORT.test(id);
  return {
    key: `${provider}/${id}`,
    provider,
    id,
    name: textOf(fields['display_name'], fields['displayName'], fields['name']) ?? id,
    contextWindow: window ?? known?.contextWindow ?? DEFAULT_CONTEXT_WINDOW,
    maxOutput: output ?? known?.maxOutput ?? DEFAULT_MAX_OUTPUT,
    vision: Array.isArray(modalities) ? modalities.includes('image') : (known?.vision ?? HOSTED_VISION.test(id)),
    aliases: [],
    parameters:
      known?.parameters ??
      (hasEffort ? [{ id: 'effort', values: ['low', 'medium', 'high'].map(value => ({ value })) }] : []),
    ...(price && { price }),
  };
}

/** Prices as OpenRouter lists them: US dollars a token, as texts; a negative one says that it depends. */
function readPrice(pricing: unknown): ModelPrice | undefined {
  if (typeof pricing !== 'object' || pricing === null) return undefined;
  const perMillion = (name: string): number | undefined => {
    const text = (pricing as Record<string, unknown>)[name];
    const dollars = typeof text === 'string' && text !== '' ? Number(text) : NaN;
    return dollars >= 0 ? Number((dollars * 1e6).toPrecision(12)) : undefined;
  };
  const [input, output] = [perMillion('prompt'), perMillion('completion')];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead, cacheWrite] = [perMillion('input_cache_read'), perMillion('input_cache_write')];
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** Families whose current members all see images; lists of these providers do not say it. */
const HOSTED_VISION = /^(?:gpt-(?:4o|4\.1|[5-9])|gemini-|claude-|o[3-9])/;

/** Families that take an effort, from a provider whose list does not say it. */
const HOSTED_EFFORT = /^(?:gpt-[5-9](?!.*chat)|o[1-9])/;

function textOf(...values: readonly unknown[]): string | undefined {
  return values.find(
    (value): value is string => typeof value === 'string' && value !== '' && !value.startsWith('models/'),
  );
}

function count(fields: Record<string, unknown>, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  }
  return undefined;
}
