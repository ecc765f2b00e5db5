import type { Usage } from '@tandem/client';

/** What a model costs, in US dollars a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** Calls with a longer prompt, in tokens, have another price. */
  readonly upTo?: number | undefined;
}

/** Gives the US dollars of a turn; undefined where its price or its tokens are not known. */
export type CostOf = (usage: Usage | undefined) => number | undefined;

/**
 * The US dollars of these tokens (R58): cached input costs as much as other input where no price of its own is known. Undefined where a
 * call of the turn may have had another price.
 */
export function costOfUsage(usage: Usage | undefined, price: Price | undefined): number | undefined {
  if (price && isFree(price)) return 0; // whatever it used
  if (!price || usage?.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  const { input, output, cacheRead = input, cacheWrite = input, upTo = Infinity } = price;
  if (Number(inputOf(usage)) > upTo) return undefined;
  return (
    (Number(usage.inputTokens) * input +
      Number(usage.outputTokens) * output +
      Number(usage.cacheReadTokens ?? 0) * cacheRead +
      Number(usage.cacheWriteTokens ?? 0) * cacheWrite) /
    1e6
  );
}

function isFree({ input, output, cacheRead = 0, cacheWrite = 0, upTo }: Price): boolean {
  return input + output + cacheRead + cacheWrite === 0 && upTo === undefined;
}

/** An amount for a person: cents, and below one cent as many digits as tell something. */
export function dollarsText(dollars: number): string {
  if (dollars >= 0.01 || dollars === 0) return `$${dollars.toFixed(2)}`;
  return dollars < 0.000_1 ? 'less than $0.0001' : `$${dollars.toFixed(4)}`;
}

/** All tokens that went in, cached ones included; undefined when none were reported. */
export function inputOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): bigint | undefined {
  return inputTokens === undefined
    ? undefined
    : BigInt(inputTokens) + BigInt(cacheReadTokens ?? 0) + BigInt(cacheWriteTokens ?? 0);
}
