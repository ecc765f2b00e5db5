import type { ModelPrice, Usage } from '../model/port.ts';

/** Money in one currency, by its ISO 4217 code: `{ USD: 0.0125 }`. */
export type Money = Readonly<Record<string, number>>;

/** What prices are in where nothing else is said. */
export const CURRENCY = 'USD';

/**
 * What one model call cost, in the currency of its price (R58): the tier that its whole prompt falls in holds for all of the
 * call. Cached input costs as much as other input where no price of its own is known. Undefined where the price or the tokens
 * are not known.
 */
export function costOfCall(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (price?.input === 0 && price.output === 0 && !price.tiers) return 0; // whatever it used
  if (!price || usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const prompt = inputTokens + cacheReadTokens + cacheWriteTokens;
  const tier = price.tiers?.findLast(({ above }) => prompt > above) ?? price;
  const { input, output, cacheRead = input, cacheWrite = input } = tier;
  return (
    (inputTokens * input + outputTokens * output + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite) / 1e6
  );
}

/** The sum of two amounts, currency by currency. */
export function addMoney(a: Money, currency: string, amount: number): Money {
  return { ...a, [currency]: (a[currency] ?? 0) + amount };
}
