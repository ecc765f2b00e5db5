import type { Usage } from '@tandem/client';

/** The tokens of several turns. What no turn reported stays absent. */
export interface UsageTotal {
  add(usage: Usage | undefined): void;
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
  return {
    add(usage) {
      turns++;
      for (const name of Object.keys(NAMES) as (keyof typeof NAMES)[]) {
        const tokens = usage?.[name];
        if (tokens !== undefined) totals.set(name, (totals.get(name) ?? 0n) + BigInt(tokens));
      }
    },
    text() {
      const parts = Object.entries(NAMES).flatMap(([name, words]) => {
        const tokens = totals.get(name);
        return tokens === undefined ? [] : [`${tokens.toLocaleString('en-US')} ${words}`];
      });
      const figures = parts.length === 0 ? 'no tokens were reported' : `tokens: ${parts.join(', ')}`;
      return `${turns === 1 ? '1 turn' : `${turns} turns`}, ${figures}. Prices are not known here.`;
    },
  };
}
