import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens, measurePrompt, tokenDetails } from './token-details.ts';

const size = (id: string, characters: number) => ({ id, label: id, characters });

describe('token details', () => {
  it('share the tokens by characters and add up exactly, whatever the numbers (R51)', () => {
    fc.assert(
      fc.property(
        fc.nat(2_000_000),
        fc.array(fc.nat(50_000_000), { minLength: 1, maxLength: 8 }),
        (used, characters) => {
          const sizes = characters.map((count, at) => size(`${at}`, count));
          const { usedTokens, breakdown } = tokenDetails(used, 200_000, sizes);
          expect(usedTokens).toBe(used);
          const tokens = breakdown!.categories.map(({ estimatedTokens }) => estimatedTokens);
          expect(tokens.reduce((sum, one) => sum + one, 0)).toBe(used);
          for (const one of tokens) expect(one).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  it('give what rounding leaves over to the largest remainders', () => {
    const { breakdown } = tokenDetails(10, 100, [size('a', 1), size('b', 1), size('c', 1)]);
    expect(breakdown!.categories.map(({ estimatedTokens }) => estimatedTokens)).toEqual([4, 3, 3]);
  });

  it('measure what a prompt is made of, notes of the server apart from what people wrote', () => {
    const messages = [
      { role: 'system' as const, content: 'be' },
      { role: 'user' as const, content: 'note' },
      { role: 'user' as const, content: 'hello' },
      { role: 'assistant' as const, content: 'hi' },
      { role: 'tool' as const, content: 'result' },
    ];
    const sizes = measurePrompt(messages, 100, ({ content }) => content === 'note');
    expect(Object.fromEntries(sizes.map(({ id, characters }) => [id, characters]))).toEqual({
      system: 2,
      tools: 100,
      context: 4,
      conversation: 7,
      results: 6,
    });
    expect(estimateTokens(sizes)).toBe(30);
  });
});
