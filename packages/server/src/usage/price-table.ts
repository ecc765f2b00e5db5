import type { RemoteType } from '../config/provider-types.ts';
import type { ModelInfo, ModelPrice } from '../model/port.ts';

/** When the table was read off the providers' published price lists. Prices move: `price` of a model in the config wins. */
const PRICES_OF = '2026-11-30';

/** US dollars a million tokens: input, output, cache read, cache write (of the shortest time to live). */
type Row = readonly [input: number, output: number, cacheRead: number, cacheWrite?: number];

/** A model, and what its whole call costs once the prompt is longer than so many tokens. */
type Entry = Row | { readonly base: Row; readonly above: number; readonly long: Row };

/** Twice the input and one and a half times the output, for prompts of more than 272,000 tokens. */
const longer = (base: Row): Entry => ({
  base,
  above: 272_000,
  long: [base[0] * 2, base[1] * 1.5, base[2] * 2, ...(base[3] === undefined ? [] : [base[3] * 2])] as unknown as Row,
});

/** By the plain id of a model: without vendor in front, without date, version or `latest` behind. */
const PRICES: Readonly<Record<string, Entry>> = {
  'claude-fable-5.1': [10, 50, 0.25, 12.5],
  'claude-fable-5': [10, 50, 1, 12.5],
  'claude-opus-5.5': [4, 20, 0.2, 5],
  'claude-opus-5': [5, 25, 0.5, 6.25],
  'claude-opus-4.8': [5, 25, 0.5, 6.25],
  'claude-opus-4.7': [5, 25, 0.5, 6.25],
  'claude-opus-4.6': [5, 25, 0.5, 6.25],
  'claude-opus-4.5': [5, 25, 0.5, 6.25],
  'claude-opus-4.1': [15, 75, 1.5, 18.75],
  'claude-opus-4': [15, 75, 1.5, 18.75],
  'claude-sonnet-5.5': [2, 10, 0.1, 2.5],
  'claude-sonnet-5': [2, 10, 0.2, 2.5],
  'claude-sonnet-4.6': [3, 15, 0.3, 3.75],
  'claude-sonnet-4.5': [3, 15, 0.3, 3.75],
  'claude-sonnet-4': [3, 15, 0.3, 3.75],
  'claude-haiku-5.5': { base: [0.1, 0.5, 0.01, 0.125], above: 100_000, long: [0.5, 2.5, 0.05, 0.625] },
  'claude-haiku-4.5': [1, 5, 0.1, 1.25],
  'claude-haiku-3.5': [0.8, 4, 0.08, 1],
  'claude-3.5-haiku': [0.8, 4, 0.08, 1],
  'claude-3-haiku': [0.25, 1.25, 0.03, 0.3],

  'gpt-6.2-sol': longer([2, 10, 0.1, 2.5]),
  'gpt-6.2-astra': longer([8, 40, 0.4, 10]),
  'gpt-6.1-sol': longer([2, 10, 0.1, 2.5]),
  'gpt-6-sol': longer([2, 10, 0.2, 2.5]),
  'gpt-6-luna': longer([0.1, 0.5, 0.01, 0.125]),
  'gpt-6-astra': longer([10, 50, 1, 12.5]),
  'gpt-5.6': longer([4, 20, 0.4]),
  'gpt-5.6-sol': longer([4, 20, 0.4]),
  'gpt-5.6-terra': longer([2, 12, 0.2]),
  'gpt-5.6-luna': longer([0.2, 1.2, 0.02]),
  'gpt-5.5': [5, 30, 0.5],
  'gpt-5.4': [2.5, 15, 0.25],
  'gpt-5.4-mini': [0.75, 4.5, 0.075],
  'gpt-5.2': [1.75, 14, 0.175],
  'gpt-5.1': [1.25, 10, 0.125],
  'gpt-5': [1.25, 10, 0.125],
  'gpt-5-mini': [0.25, 2, 0.025],
  'gpt-5-nano': [0.05, 0.4, 0.005],
  'gpt-4.1': [2, 8, 0.5],
  'gpt-4.1-mini': [0.4, 1.6, 0.1],
  'gpt-4.1-nano': [0.1, 0.4, 0.025],
  'gpt-4o': [2.5, 10, 1.25],
  'gpt-4o-mini': [0.15, 0.6, 0.075],
  'o4-mini': [1.1, 4.4, 0.275],

  'gemini-4-neon': [3, 15, 0.15],
  'gemini-4-hydrogen': [1.5, 7.5, 0.075],
  'gemini-3.8-flash': [0.75, 3.75, 0.075],
  'gemini-3.1-pro': { base: [2, 12, 0.2], above: 200_000, long: [4, 18, 0.4] },
  'gemini-3-pro': { base: [2, 12, 0.2], above: 200_000, long: [4, 18, 0.4] },
  'gemini-3-flash': [0.5, 3, 0.05],
  'gemini-2.5-pro': { base: [1.25, 10, 0.125], above: 200_000, long: [2.5, 15, 0.25] },
  'gemini-2.5-flash': [0.3, 2.5, 0.03],
  'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
};

/** The shipped price of a model; undefined for one that is not in the table: a near name may cost many times as much. */
export function shippedPrice(id: string): ModelPrice | undefined {
  const plain = plainId(id);
  if (!Object.hasOwn(PRICES, plain)) return undefined;
  const entry = PRICES[plain]!;
  if (!('base' in entry)) return priceOf(entry);
  return { ...priceOf(entry.base), tiers: [{ above: entry.above, ...ratesOf(entry.long) }] };
}

/** Whose table a type of provider falls back on, by the beginning of the ids; ids of clouds and gateways have other forms. */
const VENDORS: Partial<Record<RemoteType, RegExp>> = {
  anthropic: /^claude-/,
  openai: /^(?:gpt-|o\d)/,
  'openai-chat': /^(?:gpt-|o\d)/,
  google: /^gemini-/,
  vertex: /^gemini-/,
};

/** Ids of a provider's well-known models, the best known first, for when it cannot be asked; empty where nobody knows. */
export function shippedModels(type: RemoteType): string[] {
  const vendor = VENDORS[type];
  const ids = vendor ? Object.keys(PRICES).filter(id => vendor.test(id)) : [];
  return type === 'anthropic' ? ids.map(id => id.replace('.', '-')) : ids;
}

/** Types behind which anything may stand, or a model on somebody's own machine: a name alone tells no price there. */
const UNPRICED: ReadonlySet<RemoteType> = new Set(['openai-compatible', 'ollama', 'lmstudio', 'llama.cpp']);

/** A model with its shipped price, where neither the config nor its provider's list gave one. */
export function withPrice(type: RemoteType, info: ModelInfo): ModelInfo {
  const price = info.price ?? (UNPRICED.has(type) ? undefined : shippedPrice(info.id));
  return price ? { ...info, price } : info;
}

const priceOf = (row: Row): ModelPrice => ({ ...ratesOf(row), currency: 'USD', date: PRICES_OF });

function ratesOf([input, output, cacheRead, cacheWrite]: Row) {
  return { input, output, cacheRead, ...(cacheWrite !== undefined && { cacheWrite }) };
}

/** `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `anthropic/claude-sonnet-4.5` and `claude-sonnet-4-5@20250929` are one model. */
function plainId(id: string): string {
  return id
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google)\./, '')
    .replace(/@.*$/, '')
    .replace(/-v\d+(?::\d+)?$/, '')
    .replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview(?:-[\d-]+)?)$/, '')
    .replace(/^(claude-(?:[a-z]+-)?\d+)-(\d)(?!\d)/, '$1.$2');
}
