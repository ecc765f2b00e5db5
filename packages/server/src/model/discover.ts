import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_OUTPUT, LIST_MODELS_BYTES, LIST_MODELS_MS } from './limits.ts';
import type { ModelInfo } from './port.ts';
import type { Fetch } from './provider-fetch.ts';
import { providerFetch } from './provider-fetch.ts';

/** A provider that is asked for its models. */
export interface ListedProvider {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What providers list besides models that hold a conversation. */
const NO_CHAT =
  /embed|whisper|\btts\b|dall-e|moderation|-image\b|imagen|\bveo\b|sora|transcribe|realtime|-audio\b|babbage|davinci|rerank|\baqa\b|computer-use/i;

/**
 * Asks a provider for its models (`GET /models`), within two seconds.
 * @throws Error with a sentence on what went wrong.
 */
export async function listModels(provider: ListedProvider, fetch: Fetch = providerFetch): Promise<ModelInfo[]> {
  const response = await fetch(`${provider.baseUrl}/models`, {
    headers: {
      ...(provider.apiKey !== undefined && { authorization: `Bearer ${provider.apiKey}` }),
      ...provider.headers,
    },
    signal: AbortSignal.timeout(LIST_MODELS_MS),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}`);
  }
  const list = JSON.parse(await readText(response)) as { data?: unknown; models?: unknown } | unknown[] | null;
  const entries: unknown = Array.isArray(list) ? list : (list?.data ?? list?.models);
  if (!Array.isArray(entries)) throw new Error('its answer holds no list of models');
  const models = new Map<string, ModelInfo>();
  for (const entry of entries as unknown[]) {
    const model = readEntry(provider.name, entry);
    if (model && !models.has(model.id)) models.set(model.id, model);
  }
  return [...models.values()];
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
function readEntry(provider: string, entry: unknown): ModelInfo | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const fields = entry as Record<string, unknown>;
  if (typeof fields['id'] !== 'string' || fields['id'] === '' || NO_CHAT.test(fields['id'])) return undefined;
  const id = fields['id'].replace(/^models\//, '');
  const top = (fields['top_provider'] ?? {}) as Record<string, unknown>;
  const modalities = (fields['architecture'] as { input_modalities?: unknown } | undefined)?.input_modalities;
  const window =
    count(fields, 'context_length', 'context_window', 'max_model_len', 'max_context_length', 'inputTokenLimit') ??
    count(top, 'context_length');
  const output = count(fields, 'max_completion_tokens', 'outputTokenLimit') ?? count(top, 'max_completion_tokens');
  const supported = fields['supported_parameters'];
  const hasEffort = Array.isArray(supported) ? supported.includes('reasoning') : HOSTED_EFFORT.test(id);
  return {
    key: `${provider}/${id}`,
    provider,
    id,
    name: typeof fields['name'] === 'string' && fields['name'] !== '' ? fields['name'] : id,
    contextWindow: window ?? DEFAULT_CONTEXT_WINDOW,
    maxOutput: output ?? DEFAULT_MAX_OUTPUT,
    vision: Array.isArray(modalities) ? modalities.includes('image') : HOSTED_VISION.test(id),
    aliases: [],
    parameters: hasEffort ? [{ id: 'effort', values: ['low', 'medium', 'high'].map(value => ({ value })) }] : [],
  };
}

/** Families whose current members all see images; lists of these providers do not say it. */
const HOSTED_VISION = /^(?:gpt-(?:4o|4\.1|[5-9])|gemini-|claude-|o[3-9])/;

/** Families that take an effort, from a provider whose list does not say it. */
const HOSTED_EFFORT = /^(?:gpt-[5-9](?!.*chat)|o[1-9])/;

function count(fields: Record<string, unknown>, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  }
  return undefined;
}
