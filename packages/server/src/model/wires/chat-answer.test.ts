import { describe, expect, test } from 'vitest';
import { originOptions } from '../origin.ts';
import type { ModelEvent, ModelInfo } from '../port.ts';
import { ChatAnswer } from './chat-answer.ts';
import type { StreamError } from './wire.ts';

const INFO: ModelInfo = {
  key: 'p/m',
  provider: 'p',
  id: 'm',
  name: 'M',
  contextWindow: 1000,
  maxOutput: 100,
  vision: false,
  aliases: [],
  parameters: [],
};
const END = { type: 'reasoning-end', providerOptions: originOptions('p/m') };
const text = (said: string) => ({ type: 'text', text: said });
const reasoning = (said: string) => ({ type: 'reasoning', text: said });
const delta = (value: object) => ({ choices: [{ index: 0, delta: value }] });
const message = (value: object) => ({ choices: [{ index: 0, delta: {}, message: value, finish_reason: 'stop' }] });

/** The events of an answer of these chunks. */
function read(...chunks: unknown[]): (ModelEvent | StreamError)[] {
  const answer = new ChatAnswer(INFO);
  const events = chunks.flatMap(chunk => answer.push({ data: JSON.stringify(chunk) }));
  return [...events, ...answer.finish()];
}
const shown = (...chunks: unknown[]) => read(...chunks).slice(0, -1);
const usageOf = (...chunks: unknown[]) => (read(...chunks).at(-1) as { usage?: unknown }).usage;

describe('reasoning', () => {
  test.each(['reasoning_content', 'reasoning'])('is read from %s, before the text of the same delta', field => {
    expect(shown(delta({ [field]: 'hm', content: '' }), delta({ [field]: '.', content: 'so' }))).toEqual([
      reasoning('hm'),
      reasoning('.'),
      END,
      text('so'),
    ]);
  });

  test('is said once where both names hold it, and from the one that is not empty', () => {
    expect(shown(delta({ reasoning_content: 'hm', reasoning: 'hm' }))).toEqual([reasoning('hm'), END]);
    for (const empty of ['', null]) {
      expect(shown(delta({ reasoning_content: empty, reasoning: 'hm' }))).toEqual([reasoning('hm'), END]);
    }
  });

  test('is read from parts of the content, as Mistral sends it', () => {
    const thinking = [{ type: 'text', text: 'h' }, { type: 'text', text: 'm' }, { type: 'reference' }, null];
    expect(
      shown(delta({ content: [{ type: 'thinking', thinking }, { type: 'text', text: 'so' }, { type: 'image' }, 7] })),
    ).toEqual([reasoning('hm'), END, text('so')]);
  });

  test('ends where a call begins, and begins again after it', () => {
    const call = { index: 0, id: 'a', function: { name: 'Read', arguments: '{}' } };
    const kinds = read(delta({ reasoning: 'a' }), delta({ tool_calls: [call] }), delta({ reasoning: 'b' }));
    expect(kinds.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning-end',
      'tool-start',
      'tool-args',
      'reasoning',
      'reasoning-end',
      'tool-call',
      'finish',
    ]);
  });
});

describe('a whole message', () => {
  test('in place of deltas is read as they are', () => {
    expect(shown(message({ reasoning: 'hm', content: 'so' }))).toEqual([reasoning('hm'), END, text('so')]);
  });

  test('after deltas says nothing again, and what no delta brought', () => {
    expect(shown(delta({ content: 'so' }), message({ content: 'so' }))).toEqual([text('so')]);
    expect(shown(delta({ reasoning: 'hm' }), message({ reasoning: 'hm', content: 'so' }))).toEqual([
      reasoning('hm'),
      END,
      text('so'),
    ]);
    const call = { id: 'a', function: { name: 'Read', arguments: '{"x":1}' } };
    const started = { ...call, index: 0, function: { name: 'Read', arguments: '{"x"' } };
    expect(
      shown(delta({ content: 'so', tool_calls: [started] }), message({ content: 'so', tool_calls: [call] })),
    ).toMatchObject([
      { type: 'text' },
      { type: 'tool-start' },
      { type: 'tool-args', text: '{"x"' },
      { type: 'tool-args', text: ':1}' },
      { type: 'tool-call', args: '{"x":1}' },
    ]);
  });
});

describe('usage', () => {
  const counts = { prompt_tokens: 9, completion_tokens: 2 };

  test.each([
    ['a chunk of its own', { choices: [], usage: counts }],
    ['the place of Groq', { choices: [], usage: null, x_groq: { usage: counts } }],
    ['its choice', { choices: [{ index: 0, delta: {}, usage: counts }] }],
  ])('is read from %s, after what was counted before', (_, chunk) => {
    const early = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
    expect(usageOf(early, chunk, { choices: [], usage: null })).toEqual({ inputTokens: 9, outputTokens: 2 });
  });

  test('that is no number is none', () => {
    expect(usageOf({ choices: [], usage: { prompt_tokens: '9', completion_tokens: 2 } })).toEqual({ outputTokens: 2 });
    expect(usageOf({ choices: [], usage: 'much' })).toEqual({});
  });
});

test('a call goes back with the id that came late and the signature of Google', () => {
  const calls = [
    [{ index: 0, function: { name: 'Read', arguments: '' } }],
    [{ index: 0, id: 'a', function: { arguments: '{}' }, extra_content: { google: { thought_signature: 'SIGNED' } } }],
  ];
  expect(read(...calls.map(tool_calls => delta({ tool_calls })))).toContainEqual({
    type: 'tool-call',
    key: '0',
    providerId: 'a',
    name: 'Read',
    args: '{}',
    providerOptions: { ...originOptions('p/m', 'a'), google: { thoughtSignature: 'SIGNED' } },
  });
});

test('a call that is cut inside a character, or never named, is whole at the end', () => {
  const call = { index: 0, id: 'a', function: { arguments: '{"x":"\ud83d' } };
  const named = { ...call, function: { ...call.function, name: 'Read' } };
  for (const [piece, name] of [
    [named, 'Read'],
    [call, 'unnamed_tool'],
  ] as const) {
    const args = '{"x":"\ufffd';
    const events = read(delta({ reasoning: 'hm' }), delta({ tool_calls: [piece] }));
    const pieces = events.map(event => (event.type === 'tool-args' ? event.text : ''));
    expect(pieces.join('')).toBe(args);
    expect(events.filter(({ type }) => type === 'tool-start' || type === 'tool-call')).toMatchObject([
      { key: '0', name },
      { key: '0', name, args },
    ]);
    expect(events.at(-1)).toMatchObject({ reason: 'missing' });
  }
});

test.each([
  [
    { error: { message: 'no', type: 'overloaded_error', code: 529 } },
    { message: 'no', type: 'overloaded_error', code: 529 },
  ],
  [{ error: { detail: 'no', status: 503 } }, { message: 'no', code: 503 }],
  [{ error: { msg: 'no', status: '429' } }, { message: 'no', code: '429' }],
  [{ error: 'no' }, { message: 'no' }],
  [
    { object: 'error', message: 'no', code: 400 },
    { message: 'no', code: 400 },
  ],
])('a failure in the form %j is one', (chunk, error) => {
  expect(new ChatAnswer(INFO).push({ data: JSON.stringify(chunk) })).toMatchObject([{ type: 'error', error }]);
});
