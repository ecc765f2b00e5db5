import { expect, test } from 'vitest';
import { retryAfterSeconds } from './retry-after.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test.each([
  ['seconds', { 'retry-after': '7' }, '', 7],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:12 GMT' }, '', 12],
  ['a date that has passed', { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, '', 0],
  ['milliseconds, before seconds', { 'retry-after': '7', 'retry-after-ms': '250' }, '', 0.25],
  ['words', {}, 'Please try again in 1.5s.', 1.5],
  ['words with milliseconds', {}, 'Please try again in 20ms', 0.02],
  ['a retry delay in the body', {}, '{"retryDelay": "37s"}', 37],
  ['nonsense', { 'retry-after': 'soon' }, 'later', undefined],
])('a wait given as %s is read', (_, headers, words, seconds) => {
  expect(retryAfterSeconds(headers, words, NOW)).toBe(seconds);
});
