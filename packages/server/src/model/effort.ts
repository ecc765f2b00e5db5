/** The names under which clients choose how long a model thinks. */
const EFFORT_NAMES = ['effort', 'reasoning', 'reasoning_effort', 'thinking_effort'];

/** Words with which thinking is switched off. */
const OFF = new Set(['none', 'off', 'disabled', 'false']);

/** Efforts from the least to the most. */
const ORDER = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The effort that a call asks for: a word of the ladder, `off`, or undefined when the provider decides. */
export function effortOf(parameters: Readonly<Record<string, string>>): string | undefined {
  const named = EFFORT_NAMES.map(name => parameters[name]).find(value => value !== undefined && value !== '');
  return named === undefined ? undefined : OFF.has(named) ? 'off' : named;
}

/** The nearest of the supported efforts, the lower of two; a word nobody knows goes through as it is. */
function nearestEffort(effort: string, supported: readonly string[]): string {
  const wanted = ORDER.indexOf(effort);
  if (wanted < 0 || supported.includes(effort)) return effort;
  const distance = (known: string) => Math.abs(ORDER.indexOf(known) - wanted);
  return supported.toSorted((a, b) => distance(a) - distance(b) || ORDER.indexOf(a) - ORDER.indexOf(b))[0] ?? effort;
}

/** How a family of models thinks; the first row whose pattern fits a model's id holds. */
interface ThinkingRow {
  readonly ids: RegExp;
  /** `effort`: one of `efforts`; `budget`: tokens. */
  readonly by: 'effort' | 'budget';
  readonly efforts: readonly string[];
  /** What switches it off: absent when leaving it out does. */
  readonly off?: string | number;
}

const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_000,
  high: 24_000,
  xhigh: 32_000,
  max: 32_000,
};
/** The smallest budget that Anthropic takes. */
const LEAST_BUDGET = 1_024;

/** Anthropic: newer models take an effort and judge for themselves, older ones a budget. */
const ANTHROPIC: readonly ThinkingRow[] = [
  { ids: /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015](?!\d)|-2\d{7}|$))/, by: 'budget', efforts: [] },
  { ids: /claude-(?:3|2|instant)/, by: 'budget', efforts: ['none'] },
  { ids: /(?:)/, by: 'effort', efforts: ['low', 'medium', 'high', 'max'] },
];

/**
 * The fields of a Messages request that ask for thinking. Nothing chosen or off: none (P32). A budget stays below the longest
 * answer, which counts it.
 */
export function thinkingOf(
  parameters: Readonly<Record<string, string>>,
  modelId: string,
  longest: number,
): Record<string, unknown> {
  const effort = effortOf(parameters);
  const row = ANTHROPIC.find(({ ids }) => ids.test(modelId));
  if (effort === undefined || effort === 'off' || row === undefined || row.efforts[0] === 'none') return {};
  if (row.by === 'effort') {
    return { thinking: { type: 'adaptive' }, output_config: { effort: nearestEffort(effort, row.efforts) } };
  }
  const asked = /^\d+$/.test(effort) ? Number(effort) : (BUDGETS[effort] ?? 10_000);
  const budget = Math.min(asked, longest - LEAST_BUDGET);
  return budget < LEAST_BUDGET ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** OpenAI: which efforts each family takes, and what is nearest to off. */
const OPENAI: readonly ThinkingRow[] = [
  { ids: /gpt-5\.[1-9](?!.*chat)/, by: 'effort', efforts: ['low', 'medium', 'high', 'xhigh'], off: 'none' },
  { ids: /gpt-5(?!.*chat)/, by: 'effort', efforts: ['minimal', 'low', 'medium', 'high'], off: 'minimal' },
  { ids: /gpt-[6-9](?!.*chat)/, by: 'effort', efforts: ['low', 'medium', 'high', 'xhigh'], off: 'none' },
  { ids: /(?:^|\/)o[1-9]|codex/, by: 'effort', efforts: ['low', 'medium', 'high'], off: 'low' },
];

/** Whether a model behind the Responses wire reasons: by its family, else because somebody chose an effort. */
export function reasonsAtOpenAI(parameters: Readonly<Record<string, string>>, modelId: string): boolean {
  const effort = effortOf(parameters);
  return OPENAI.some(({ ids }) => ids.test(modelId)) || (effort !== undefined && effort !== 'off');
}

/** The word for the effort of an OpenAI model; undefined leaves it to the provider. */
export function openAIEffort(parameters: Readonly<Record<string, string>>, modelId: string): string | undefined {
  const effort = effortOf(parameters);
  const row = OPENAI.find(({ ids }) => ids.test(modelId));
  if (effort === undefined) return undefined;
  if (effort === 'off') return row && String(row.off);
  return row ? nearestEffort(effort, row.efforts) : effort;
}

const GOOGLE: readonly ThinkingRow[] = [
  { ids: /gemini-2\.5-pro/, by: 'budget', efforts: [], off: 128 }, // cannot be switched off: the least that it takes
  { ids: /gemini-2\.5/, by: 'budget', efforts: [], off: 0 },
  { ids: /gemini-[3-9].*pro/, by: 'effort', efforts: ['low', 'medium', 'high'], off: 'low' },
  { ids: /gemini-[3-9]/, by: 'effort', efforts: ['minimal', 'low', 'medium', 'high'], off: 'minimal' },
];

/** The `thinkingConfig` of a Gemini request; undefined for models that do not think, which refuse it. */
export function googleThinking(
  parameters: Readonly<Record<string, string>>,
  modelId: string,
): Record<string, unknown> | undefined {
  const row = GOOGLE.find(({ ids }) => ids.test(modelId));
  const effort = effortOf(parameters);
  if (row === undefined) return undefined;
  const field = row.by === 'budget' ? 'thinkingBudget' : 'thinkingLevel';
  if (effort === 'off') return { includeThoughts: false, [field]: row.off };
  if (effort === undefined) return { includeThoughts: true };
  const value = row.by === 'effort' ? nearestEffort(effort, row.efforts) : (BUDGETS[effort] ?? Number(effort));
  return { includeThoughts: true, ...((typeof value === 'string' || Number.isInteger(value)) && { [field]: value }) };
}
