import type { ModelMessage } from '@tandem/protocol/message';
import { describe, expect, test } from 'vitest';
import { INTERRUPTED, repairHistory, textOfResult } from './history.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const calls = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: ids.map(id => ({ type: 'tool-call', toolCallId: id, toolName: 'Read', args: { path: id } })),
});
const results = (...ids: string[]): ModelMessage => ({
  role: 'tool',
  content: ids.map(id => ({ type: 'tool-result', toolCallId: id, toolName: 'Read', result: `text of ${id}` })),
});
const interrupted = (id: string) => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'Read',
  result: INTERRUPTED,
  isError: true,
});

describe('a history', () => {
  test('in which everything has its place stays as it is', () => {
    const whole = [
      user('hi'),
      calls('a', 'b'),
      results('a', 'b'),
      { role: 'assistant', content: 'done' } as ModelMessage,
    ];
    expect(repairHistory(whole)).toEqual(whole);
  });

  test('gets an interrupted result for a call that has none, before the next message', () => {
    const repaired = repairHistory([calls('a', 'b'), results('b'), user('go on')]);
    expect(repaired).toEqual([
      calls('a', 'b'),
      { role: 'tool', content: [...(results('b').content as []), interrupted('a')] },
      user('go on'),
    ]);
  });

  test('gets an interrupted result at its end too', () => {
    expect(repairHistory([calls('a')]).at(-1)).toEqual({ role: 'tool', content: [interrupted('a')] });
  });

  test('has a result without its call as a text of the user', () => {
    expect(repairHistory([user('hi'), results('gone')])).toEqual([
      user('hi'),
      { role: 'user', content: [{ type: 'text', text: 'Result of an earlier call of Read (gone):\ntext of gone' }] },
    ]);
  });

  test('has a stray result after the round in whose middle it stood', () => {
    const repaired = repairHistory([calls('a', 'b'), results('a'), results('gone'), results('b'), user('next')]);
    expect(repaired.map(message => message.role)).toEqual(['assistant', 'tool', 'user', 'user']);
    expect(repaired[1]).toEqual(results('a', 'b'));
  });

  test('keeps one of two calls with one id, and one of two results', () => {
    const repaired = repairHistory([calls('a', 'a'), results('a'), results('a')]);
    expect(repaired[0]).toEqual(calls('a'));
    expect(repaired[1]).toEqual(results('a'));
    expect(repaired[2]?.role).toBe('user');
  });

  test('takes results from a message of the user, and keeps the rest of it', () => {
    const foreign: ModelMessage = {
      role: 'user',
      content: [...(results('a').content as []), { type: 'text', text: 'and?' }],
    };
    expect(repairHistory([calls('a'), foreign])).toEqual([
      calls('a'),
      results('a'),
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
    ]);
  });

  test('keeps the text of a tool message that names no call', () => {
    expect(repairHistory([{ role: 'tool', content: 'output' }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'output' }] },
    ]);
  });

  test('grows at its end alone when messages are added [R47]', () => {
    const long = [
      user('1'),
      calls('a', 'b'),
      results('a'),
      results('stray'),
      user('2'),
      calls('c'),
      results('c'),
      user('3'),
    ];
    const whole = repairHistory(long);
    for (const length of [1, 5, 7, 8]) {
      const beginning = repairHistory(long.slice(0, length));
      expect(whole.slice(0, beginning.length)).toEqual(beginning);
    }
  });
});

test('the text of a result is its text parts, or the JSON of what another server wrote', () => {
  expect(textOfResult([{ type: 'text', text: 'a' }, { type: 'image', image: 'x' }, 'b'])).toBe('a\nb');
  expect(textOfResult({ ok: true })).toBe('{"ok":true}');
  expect(textOfResult(undefined)).toBe('');
});
