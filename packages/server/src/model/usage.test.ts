import { expect, test } from 'vitest';
import { usageOfChat } from './usage.ts';

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
