import { expect, test } from 'vitest';
import type { ModelEvent } from '../port.ts';
import type { StreamError } from './wire.ts';
import { ResponsesAnswer } from './responses-answer.ts';

const INFO = {
  key: 'openai/gpt-5',
  provider: 'openai',
  id: 'gpt-5',
  name: 'GPT-5',
  contextWindow: 100_000,
  maxOutput: 1_000,
  vision: true,
  aliases: [],
  parameters: [],
};

const call = (callId: string, path: string, more: object = {}) => ({
  item: { type: 'function_call', call_id: callId, name: 'Read', arguments: path && JSON.stringify({ path }), ...more },
});
const added = (event: object) => ({ type: 'response.output_item.added', ...event });
const done = (event: object) => ({ type: 'response.output_item.done', ...event });
const delta = (path: string, more: object = {}) => ({
  type: 'response.function_call_arguments.delta',
  delta: JSON.stringify({ path }),
  ...more,
});

/** The whole calls of an answer: their call ids and arguments, in the order in which they ended. */
function callsOf(events: readonly object[]): [string, string][] {
  const answer = new ResponsesAnswer(INFO);
  const all: (ModelEvent | StreamError)[] = [...events, { type: 'response.completed', response: {} }].flatMap(event =>
    answer.push({ event: '', data: JSON.stringify(event) }),
  );
  all.push(...answer.finish());
  expect(all.filter(({ type }) => type === 'tool-start')).toHaveLength(
    all.filter(({ type }) => type === 'tool-call').length,
  );
  return all.flatMap(event => (event.type === 'tool-call' ? [[event.providerId, event.args]] : []));
}

test.each([
  ['neither ids nor indices', [added(call('c1', '')), delta('a'), done(call('c1', 'a'))]],
  [
    'an id first and an index at the end',
    [added(call('c1', '', { id: 'f1' })), done({ output_index: 0, ...call('c1', 'a') })],
  ],
  [
    'an index first and an id afterwards',
    [
      added({ output_index: 0, ...call('c1', '') }),
      done(call('c1', 'a', { id: 'f1' })),
      done(call('c1', 'a', { id: 'f1' })),
    ],
  ],
  ['not even a call id', [added(call('', '')), delta('a'), done(call('', 'a'))]],
])('[product-provider-gateways] a call with %s is one call', (_, events) => {
  expect(callsOf(events)).toEqual([[expect.any(String), '{"path":"a"}']]);
});

test('[product-provider-gateways] calls side by side are told apart by their call ids alone', () => {
  const events = [added(call('c1', '')), added(call('c2', '')), done(call('c2', 'b')), done(call('c1', 'a'))];
  expect(callsOf(events)).toEqual([
    ['c2', '{"path":"b"}'],
    ['c1', '{"path":"a"}'],
  ]);
});
