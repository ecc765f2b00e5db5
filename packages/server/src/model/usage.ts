import type { Usage } from './port.ts';

type Counts = Record<string, unknown>;

const countOf = (source: unknown, ...names: readonly string[]): number | undefined => {
  if (typeof source !== 'object' || source === null) return undefined;
  for (const name of names) {
    const count = (source as Counts)[name];
    if (typeof count === 'number' && Number.isFinite(count) && count >= 0) return Math.trunc(count);
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
