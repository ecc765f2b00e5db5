import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distanceOf, nearestTo } from './nearest.ts';

test('the distance counts added, dropped and changed characters', () => {
  expect(distanceOf('kitten', 'sitting')).toBe(3);
  expect(distanceOf('', 'abc')).toBe(3);
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      (a, b) => distanceOf(a, b) === distanceOf(b, a) && (distanceOf(a, b) === 0) === (a === b),
    ),
  );
});

test('near names come nearest first, whatever their case, and far ones not at all', () => {
  expect(nearestTo('GPT5', ['gpt-4', 'gpt-5', 'llama', 'gpt-5-mini'], 3)).toEqual(['gpt-5', 'gpt-4']);
  expect(nearestTo('coder', ['qwen3-coder', 'other'], 3)).toEqual(['qwen3-coder']);
  expect(nearestTo('zzzz', ['aaaa'], 3)).toEqual([]);
});
