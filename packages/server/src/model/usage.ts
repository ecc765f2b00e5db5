import type { Usage } from './port.ts';

type Counts = Record<string, unknown>;

/** No call has more tokens; a higher count is a fault of the provider and says nothing. */
const MOST_TOKENS = 1_000_000_000;

const countOf = (source: unknown, ...names: readonly string[]): number | undefined => {
  if (typeof source !== 'object' || source === null) return undefined;
  for (const name of names) {
    const count = (source as Counts)[name];
    if (typeof count === 'number' && count >= 0 && count <= MOST_TOKENS) return Math.trunc(count);
  }
  return undefined;
};

/**
 * The counts of a chat-completions answer in their one normal form (R58, R59): cached tokens stand beside the input, also when
 * the provider counts them inside it; reasoning stands inside the output, also when the provider counts it beside. What was not
 * reported stays undefined.
 */
export function usageOfChat(raw: unknown): Usage {
  const prompt = countOf(raw, 'prompt_tokens', 'input_tokens');
  const completion = countOf(raw, 'completion_tokens', 'output_tokens');
  const details = raw as { prompt_tokens_details?: unknown; completion_tokens_details?: unknown } | null | undefined;
  const inside = details?.prompt_tokens_details;
  const read =
    countOf(inside, 'cached_tokens') ??
    countOf(raw, 'prompt_cache_hit_tokens', 'cached_tokens', 'cache_read_input_tokens');
  const write =
    countOf(inside, 'cache_write_tokens', 'cache_creation_tokens') ?? countOf(raw, 'cache_creation_input_tokens');
  const reasoning = countOf(details?.completion_tokens_details, 'reasoning_tokens') ?? countOf(raw, 'reasoning_tokens');
  const usage: Usage = {};
  if (prompt !== undefined) {
    const cached = (read ?? 0) + (write ?? 0);
    usage.inputTokens = cached > prompt ? prompt : prompt - cached; // more cached than read in: counted beside
  }
  if (completion !== undefined) {
    const total = countOf(raw, 'total_tokens');
    const isBeside =
      reasoning !== undefined &&
      (reasoning > completion || (reasoning > 0 && prompt !== undefined && total === prompt + completion + reasoning));
    usage.outputTokens = isBeside ? completion + reasoning : completion;
  }
  if (read !== undefined) usage.cacheReadTokens = read;
  if (write !== undefined) usage.cacheWriteTokens = write;
  if (reasoning !== undefined) usage.reasoningTokens = reasoning;
  return usage;
}

/** The counts of a Messages answer: input, cache reads and cache writes stand side by side there already. */
export function usageOfAnthropic(raw: unknown): Usage {
  return withoutUnreported({
    inputTokens: countOf(raw, 'input_tokens'),
    outputTokens: countOf(raw, 'output_tokens'),
    cacheReadTokens: countOf(raw, 'cache_read_input_tokens'),
    cacheWriteTokens: countOf(raw, 'cache_creation_input_tokens'),
  });
}

/** The counts of a Responses answer, whose input holds what the cache gave. */
export function usageOfResponses(raw: unknown): Usage {
  const details = raw as { input_tokens_details?: unknown; output_tokens_details?: unknown } | null | undefined;
  const read = countOf(details?.input_tokens_details, 'cached_tokens');
  const write = countOf(details?.input_tokens_details, 'cache_write_tokens');
  const input = countOf(raw, 'input_tokens');
  return withoutUnreported({
    inputTokens: input === undefined ? undefined : Math.max(0, input - (read ?? 0) - (write ?? 0)),
    outputTokens: countOf(raw, 'output_tokens'),
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: countOf(details?.output_tokens_details, 'reasoning_tokens'),
  });
}

/** The counts of a Gemini answer: its prompt holds what the cache gave, and its thoughts stand beside its candidates. */
export function usageOfGemini(raw: unknown): Usage {
  const prompt = countOf(raw, 'promptTokenCount');
  const read = countOf(raw, 'cachedContentTokenCount');
  const candidates = countOf(raw, 'candidatesTokenCount');
  const thoughts = countOf(raw, 'thoughtsTokenCount');
  const asked = prompt === undefined ? undefined : prompt + (countOf(raw, 'toolUsePromptTokenCount') ?? 0);
  return withoutUnreported({
    inputTokens: asked === undefined ? undefined : Math.max(0, asked - (read ?? 0)),
    outputTokens: candidates === undefined && thoughts === undefined ? undefined : (candidates ?? 0) + (thoughts ?? 0),
    cacheReadTokens: read,
    reasoningTokens: thoughts,
  });
}

/** The counts of a Converse answer: cache reads and writes stand beside the input. */
export function usageOfConverse(raw: unknown): Usage {
  return withoutUnreported({
    inputTokens: countOf(raw, 'inputTokens'),
    outputTokens: countOf(raw, 'outputTokens'),
    cacheReadTokens: countOf(raw, 'cacheReadInputTokens'),
    cacheWriteTokens: countOf(raw, 'cacheWriteInputTokens'),
  });
}

function withoutUnreported(usage: Usage): Usage {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== undefined));
}
