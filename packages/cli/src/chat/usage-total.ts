import type { Usage } from '@tandem/client';
import { dollarsText, inputOf } from '../render/cost.ts';

/** The tokens of several turns, and what they cost. What no turn reported stays absent. */
export interface UsageTotal {
  /** A turn, and its US dollars where they are known. */
  add(usage: Usage | undefined, cost: number | undefined): void;
  /** One line for a person. */
  text(): string;
}

const NAMES = {
  inputTokens: 'in',
  cacheReadTokens: 'of them cached',
  outputTokens: 'out',
  reasoningTokens: 'of them thinking',
} as const;

/** Begins at nothing. */
export function createUsageTotal(): UsageTotal {
  const totals = new Map<string, bigint>();
  let turns = 0;
  let dollars = 0;
  let unpriced = 0;
  const costText = (): string => {
    if (unpriced === 0) return `Cost: ${dollarsText(dollars)}.`;
    if (unpriced === turns)
      return 'Cost: unknown, because the server lists no price for the model; models[].price in its config gives one.';
    return `Cost: ${dollarsText(dollars)}, and unknown for ${unpriced} of the turns.`;
  };
  return {
    add(usage, cost) {
      turns++;
      if (cost === undefined) unpriced++;
      else dollars += cost;
      for (const name of Object.keys(NAMES) as (keyof typeof NAMES)[]) {
        const tokens = name === 'inputTokens' ? usage && inputOf(usage) : usage?.[name];
        if (tokens !== undefined) totals.set(name, (totals.get(name) ?? 0n) + BigInt(tokens));
      }
    },
    text() {
      const parts = Object.entries(NAMES).flatMap(([name, words]) => {
        const tokens = totals.get(name);
        return tokens === undefined ? [] : [`${tokens.toLocaleString('en-US')} ${words}`];
      });
      const figures = parts.length === 0 ? 'no tokens were reported' : `tokens: ${parts.join(', ')}`;
      return `${turns === 1 ? '1 turn' : `${turns} turns`}, ${figures}. ${costText()}`;
    },
  };
}
