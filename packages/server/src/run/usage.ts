import { create } from '@bufbuild/protobuf';
import { TurnEndedUpdateSchema } from '@tandem/protocol/agent';
import type { TurnEndedUpdate } from '@tandem/protocol/agent';
import type { Usage } from '../model/port.ts';

const FIELDS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;

/** The sum over model calls; what no call reported stays absent (R58). */
export function addUsage(sum: Usage, usage: Usage): Usage {
  const total: Usage = {};
  for (const field of FIELDS) {
    const [a, b] = [sum[field], usage[field]];
    if (a !== undefined || b !== undefined) total[field] = (a ?? 0) + (b ?? 0);
  }
  return total;
}

/** The most that `used_tokens` carries, a uint32. */
const MOST_USED_TOKENS = 0xffffffff;

/** Tokens that the last call filled the window with (R51); undefined when the provider did not say. */
export function usedTokens(usage: Usage): number | undefined {
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return undefined;
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = usage;
  return Math.min(inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens, MOST_USED_TOKENS);
}

export function turnEnded(usage: Usage): TurnEndedUpdate {
  const update = create(TurnEndedUpdateSchema);
  for (const field of FIELDS) {
    const value = usage[field];
    if (value !== undefined) update[field] = BigInt(value);
  }
  return update;
}
