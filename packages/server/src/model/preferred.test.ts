import { expect, test } from 'vitest';
import type { Model } from './port.ts';
import { preferred } from './preferred.ts';

const pick = (...ids: string[]) => preferred(ids.map(id => ({ info: { id } }) as Model))?.info.id;

test.each<[string[], string | undefined]>([
  [['claude-haiku-4-5', 'claude-sonnet-4-20250514', 'claude-sonnet-4-5-20250929'], 'claude-sonnet-4-5-20250929'],
  [['claude-sonnet-5', 'claude-sonnet-4-5'], 'claude-sonnet-5'],
  [['gemini-2.5-pro', 'gpt-5', 'gpt-5.2', 'gpt-5-mini'], 'gpt-5.2'],
  [['some', 'other'], undefined],
])('of %j the newest of the best known family is taken', (ids, expected) => {
  expect(pick(...ids)).toBe(expected);
});
