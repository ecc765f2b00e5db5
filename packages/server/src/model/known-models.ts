import type { ModelInfo } from './port.ts';

/** What is known of a family of models when neither its provider nor the config says it. */
interface KnownFamily {
  readonly ids: RegExp;
  /** Tokens in and out together, and of one answer. */
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly vision: boolean;
  /** Efforts that it can be asked for; none for models that do not reason on demand. */
  readonly efforts: readonly string[];
}

const K = 1_000;
const LADDER = ['none', 'low', 'medium', 'high'];

/** From the providers' published tables; the first row that fits holds. */
const FAMILIES: readonly KnownFamily[] = [
  { ids: /claude-(?:3-opus|3-haiku|3-sonnet|2)/, contextWindow: 200 * K, maxOutput: 4_096, vision: true, efforts: [] },
  { ids: /claude-3-5/, contextWindow: 200 * K, maxOutput: 8_192, vision: true, efforts: [] },
  {
    ids: /claude-opus-4(?:-[01](?!\d)|-2\d{7}|$)/,
    contextWindow: 200 * K,
    maxOutput: 32 * K,
    vision: true,
    efforts: LADDER,
  },
  { ids: /claude/, contextWindow: 200 * K, maxOutput: 64 * K, vision: true, efforts: LADDER },
  { ids: /gpt-5.*chat/, contextWindow: 128 * K, maxOutput: 16_384, vision: true, efforts: [] },
  { ids: /gpt-[5-9]/, contextWindow: 400 * K, maxOutput: 128 * K, vision: true, efforts: LADDER },
  { ids: /gpt-4\.1/, contextWindow: 1_047_576, maxOutput: 32_768, vision: true, efforts: [] },
  { ids: /gpt-4o/, contextWindow: 128 * K, maxOutput: 16_384, vision: true, efforts: [] },
  { ids: /^o[1-9]/, contextWindow: 200 * K, maxOutput: 100 * K, vision: true, efforts: ['low', 'medium', 'high'] },
  { ids: /gemini-(?:2\.5|[3-9])/, contextWindow: 1_048_576, maxOutput: 65_536, vision: true, efforts: LADDER },
  { ids: /gemini/, contextWindow: 1_048_576, maxOutput: 8_192, vision: true, efforts: [] },
];

/** What is known of a model by its id; undefined for families that nobody described here. */
export function knownModel(
  id: string,
): Pick<ModelInfo, 'contextWindow' | 'maxOutput' | 'vision' | 'parameters'> | undefined {
  const family = FAMILIES.find(({ ids }) => ids.test(id));
  if (family === undefined) return undefined;
  const { contextWindow, maxOutput, vision, efforts } = family;
  const parameters = efforts.length === 0 ? [] : [{ id: 'effort', values: efforts.map(value => ({ value })) }];
  return { contextWindow, maxOutput, vision, parameters };
}
