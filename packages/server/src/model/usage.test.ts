import { expect, test } from 'vitest';
import { usedTokens } from '../run/usage.ts';
import { usageOfChat, usageOfGemini } from './usage.ts';

test('cached tokens stand beside the input, whether they were counted inside it or not [R59]', () => {
  const inside = {
    prompt_tokens: 100,
    completion_tokens: 10,
    prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
  };
  expect(usageOfChat(inside)).toEqual({ inputTokens: 50, outputTokens: 10, cacheReadTokens: 30, cacheWriteTokens: 20 });
  expect(usageOfChat({ prompt_tokens: 50, completion_tokens: 10, cache_read_input_tokens: 300 })).toEqual({
    inputTokens: 50,
    outputTokens: 10,
    cacheReadTokens: 300,
  });
  expect(usageOfChat({ prompt_tokens: 100, prompt_cache_hit_tokens: 64 })).toEqual({
    inputTokens: 36,
    cacheReadTokens: 64,
  });
});

test('reasoning stands inside the output, whether it was counted inside it or not [R58]', () => {
  const details = { completion_tokens_details: { reasoning_tokens: 30 } };
  expect(usageOfChat({ prompt_tokens: 5, completion_tokens: 40, total_tokens: 45, ...details }).outputTokens).toBe(40);
  expect(usageOfChat({ prompt_tokens: 5, completion_tokens: 40, total_tokens: 75, ...details }).outputTokens).toBe(70);
  expect(usageOfChat({ completion_tokens: 4, ...details })).toEqual({ outputTokens: 34, reasoningTokens: 30 });
});

test('what was not reported stays absent [R58]', () => {
  expect(usageOfChat(undefined)).toEqual({});
  expect(usageOfChat({ prompt_tokens: 7 })).toEqual({ inputTokens: 7 });
  expect(usageOfChat({ prompt_tokens: -1, completion_tokens: 'ten' })).toEqual({});
});

test('a count that no call has is not reported, and no sum leaves what used_tokens carries [R58]', () => {
  for (const count of [1_000_000_001, 5e9, 1e30, Infinity]) {
    expect(usageOfChat({ prompt_tokens: count, completion_tokens: 3 })).toEqual({ outputTokens: 3 });
    expect(usageOfGemini({ promptTokenCount: 7, candidatesTokenCount: count })).toEqual({ inputTokens: 7 });
  }
  const most = 1_000_000_000;
  expect(usageOfChat({ prompt_tokens: most }).inputTokens).toBe(most);
  const counts = { inputTokens: most, outputTokens: 2 * most, cacheReadTokens: most, cacheWriteTokens: most };
  expect(usedTokens(counts)).toBe(2 ** 32 - 1);
});
