import { describe, expect, it } from 'vitest';
import { costOfCall } from './price.ts';
import { shippedPrice } from './price-table.ts';

describe('the shipped price of a model', () => {
  it.each([
    'claude-sonnet-4-5',
    'claude-sonnet-4.5',
    'claude-sonnet-4-5-20250929',
    'anthropic/claude-sonnet-4.5',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'claude-sonnet-4-5@20250929',
  ])('is found by %s', id => {
    expect(shippedPrice(id)).toMatchObject({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, currency: 'USD' });
  });

  it.each([
    ['claude-3-5-haiku-20241022', 0.8],
    ['gpt-5-2025-08-07', 1.25],
    ['gpt-5-mini', 0.25],
    ['gemini-3-flash-preview', 0.5],
    ['models/gemini-2.5-pro', 1.25],
  ])('%s has an input of %d', (id, input) => {
    expect(shippedPrice(id)?.input).toBe(input);
  });

  it.each(['gpt-5-pro', 'gpt-5-audio', 'my-gpt-5', 'qwen3-coder', 'constructor', ''])('is unknown for %j', id => {
    expect(shippedPrice(id)).toBeUndefined();
  });
});

describe('the cost of a call', () => {
  const price = {
    input: 1,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2,
    tiers: [{ above: 1_000, input: 2, output: 20 }],
  };

  it('[R58-cost-of-call] counts each kind of token at its own price', () => {
    const usage = {
      inputTokens: 100,
      outputTokens: 10,
      cacheReadTokens: 200,
      cacheWriteTokens: 50,
      reasoningTokens: 5,
    };
    expect(costOfCall(usage, price)).toBeCloseTo((100 + 100 + 20 + 100) / 1e6, 12);
  });

  it('[R58-cost-of-call] takes the tier that the whole prompt falls in, cached parts included, for all of the call', () => {
    expect(costOfCall({ inputTokens: 1_000, outputTokens: 1 }, price)).toBeCloseTo(1_010 / 1e6, 12);
    const longer = { inputTokens: 500, outputTokens: 1, cacheReadTokens: 501 };
    expect(costOfCall(longer, price)).toBeCloseTo((500 * 2 + 501 * 2 + 20) / 1e6, 12);
  });

  it('[R58-cost-of-call] is nothing for what is free, whatever it told of its tokens', () => {
    expect(costOfCall({}, { input: 0, output: 0 })).toBe(0);
  });

  it('[R58-cost-of-call] is not known without a price or without tokens', () => {
    expect(costOfCall({ inputTokens: 1, outputTokens: 1 }, undefined)).toBeUndefined();
    expect(costOfCall({ outputTokens: 1 }, price)).toBeUndefined();
    expect(costOfCall({}, price)).toBeUndefined();
  });
});
