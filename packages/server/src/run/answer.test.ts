import { describe, expect, it } from 'vitest';
import type { ModelEvent } from '../model/port.ts';
import { Answer } from './answer.ts';
import type { Shown } from './answer.ts';

/** An answer whose events come 10 ms apart, from 1,000; its calls are `call_1`, `call_2`, … */
function answerOf(...events: ModelEvent[]) {
  let calls = 0;
  const answer = new Answer(() => `call_${++calls}`);
  const shown = events.map((event, at) => answer.push(event, 1_000 + at * 10));
  return { answer, shown };
}
const text = (value: string): ModelEvent => ({ type: 'text', text: value });
const reasoning = (value: string): ModelEvent => ({ type: 'reasoning', text: value });
const finish: ModelEvent = { type: 'finish', reason: 'stop', usage: { outputTokens: 3 } };
const start = (key: string, name = 'Read', providerId = `p${key}`): ModelEvent => ({
  type: 'tool-start',
  key,
  name,
  providerId,
});
const args = (key: string, value: string): ModelEvent => ({ type: 'tool-args', key, text: value });
const whole = (key: string, value: string, name = 'Read'): ModelEvent => ({
  type: 'tool-call',
  key,
  name,
  providerId: `p${key}`,
  args: value,
});
const plain = (shown: Shown[][]) =>
  shown.map(list => list.map(one => ('call' in one ? { ...one, call: one.call.callId } : one)));
const noArgs = () => ({});

describe('text and thinking', () => {
  it('holds half a character until the other half comes (R26)', () => {
    const { shown, answer } = answerOf(text('go \ud83d'), text('\ude00!'), finish);
    expect(shown).toEqual([[{ show: 'text', text: 'go ' }], [{ show: 'text', text: '😀!' }], []]);
    expect(answer.text).toBe('go 😀!');
  });

  it('shows nothing for a delta that is half a character alone', () => {
    const { shown } = answerOf(text('\ud83d'), text('\ude00'));
    expect(shown).toEqual([[], [{ show: 'text', text: '😀' }]]);
  });

  it('puts a replacement where the second half never comes', () => {
    expect(answerOf(text('a\ud83d'), text('b')).answer.text).toBe('a\ufffdb');
    expect(answerOf(text('a\ud83d'), finish).shown[1]).toEqual([{ show: 'text', text: '\ufffd' }]);
    expect(answerOf(text('\ude00b')).answer.text).toBe('\ufffdb');
  });

  it('keeps the half of a thought apart from the text after it', () => {
    const { shown } = answerOf(reasoning('hm\ud83d'), text('so'));
    expect(shown[1]).toEqual([
      { show: 'thinking', text: '\ufffd' },
      { show: 'thinking-end', durationMs: 10 },
      { show: 'text', text: 'so' },
    ]);
  });

  it.each<[string, ModelEvent]>([
    ['text', text('so')],
    ['a call', start('1')],
    ['a call without its start', whole('1', '{}')],
    ['a thought that is not shown', { type: 'redacted-reasoning', data: 'opaque' }],
    ['the end of the answer', finish],
    ['the end of the thought', { type: 'reasoning-end' }],
  ])('ends thinking at %s, with the time it took', (_what, event) => {
    const { shown } = answerOf(reasoning('first '), reasoning('then'), event);
    expect(shown[2]![0]).toEqual({ show: 'thinking-end', durationMs: 20 });
  });

  it('gives a thought at least one millisecond, and ends it once', () => {
    const answer = new Answer(() => 'x');
    answer.push(reasoning('quick'), 5);
    expect(answer.push({ type: 'reasoning-end' }, 5)).toEqual([{ show: 'thinking-end', durationMs: 1 }]);
    expect(answer.push(text('so'), 5)).toEqual([{ show: 'text', text: 'so' }]);
  });

  it('begins a new part after a call, and a new thought after text', () => {
    const { answer } = answerOf(reasoning('a'), text('b'), text('c'), start('1'), text('d'), reasoning('e'), finish);
    expect(answer.parts.map(part => part.type)).toEqual(['thinking', 'text', 'call', 'text', 'thinking']);
    expect(answer.text).toBe('bcd');
  });
});

describe('calls', () => {
  it('are opened once, and their argument text is appended by key', () => {
    const { shown, answer } = answerOf(
      start('1'),
      start('2', 'Ls'),
      args('2', '{"path'),
      args('1', '{}'),
      args('2', '":"."}'),
    );
    expect(plain(shown)).toEqual([
      [{ show: 'call', call: 'call_1' }],
      [{ show: 'call', call: 'call_2' }],
      [{ show: 'args', call: 'call_2', text: '{"path' }],
      [{ show: 'args', call: 'call_1', text: '{}' }],
      [{ show: 'args', call: 'call_2', text: '":"."}' }],
    ]);
    expect(answer.calls.map(call => [call.name, call.args])).toEqual([
      ['Read', '{}'],
      ['Ls', '{"path":"."}'],
    ]);
  });

  it('take the arguments of the final event, and show what was not shown of them (F31)', () => {
    const late = answerOf(start('1'), whole('1', '{"path":"a"}'));
    expect(plain(late.shown)[1]).toEqual([{ show: 'args', call: 'call_1', text: '{"path":"a"}' }]);
    const rest = answerOf(start('1'), args('1', '{"path"'), whole('1', '{"path":"a"}'));
    expect(plain(rest.shown)[2]).toEqual([{ show: 'args', call: 'call_1', text: ':"a"}' }]);
    const other = answerOf(start('1'), args('1', '{"path":"b'), whole('1', '{"path":"a"}'));
    expect(other.shown[2]).toEqual([]); // shown text cannot be taken back; the started card has the right ones (R23)
    for (const { answer } of [late, rest, other])
      expect(answer.calls[0]).toMatchObject({ args: '{"path":"a"}', whole: true });
  });

  it('that come only as a whole are opened then', () => {
    const { shown } = answerOf(whole('1', '{"path":"a"}'));
    expect(plain(shown)).toEqual([
      [
        { show: 'call', call: 'call_1' },
        { show: 'args', call: 'call_1', text: '{"path":"a"}' },
      ],
    ]);
  });

  it('take nothing more once they are whole, and nothing under an unknown key', () => {
    const { shown, answer } = answerOf(
      start('1'),
      whole('1', '{}'),
      args('1', 'junk'),
      args('9', 'junk'),
      args('1', ''),
    );
    expect(shown.slice(2)).toEqual([[], [], []]);
    expect(answer.calls.map(call => call.args)).toEqual(['{}']);
  });
});

describe('the message of an answer', () => {
  it('has all parts in order, and says which model wrote them', () => {
    const signed: ModelEvent = { type: 'reasoning-end', providerOptions: { anthropic: { signature: 'sig' } } };
    const { answer } = answerOf(
      reasoning('hm'),
      signed,
      { type: 'redacted-reasoning', data: 'opaque' },
      text('so'),
      start('1'),
      whole('1', '{"path":"a"}'),
      finish,
    );
    expect(answer.messageParts('p/m', () => ({ path: 'a' }))).toEqual([
      {
        type: 'reasoning',
        text: 'hm',
        providerOptions: { anthropic: { signature: 'sig' }, tandem: { model: 'p/m', durationMs: 10 } },
      },
      { type: 'redacted-reasoning', data: 'opaque', providerOptions: { tandem: { model: 'p/m' } } },
      { type: 'text', text: 'so' },
      {
        type: 'tool-call',
        toolCallId: 'call_1',
        toolName: 'Read',
        args: { path: 'a' },
        providerOptions: { tandem: { model: 'p/m', providerId: 'p1' } },
      },
    ]);
    expect(answer.finish).toEqual({ reason: 'stop', usage: { outputTokens: 3 } });
  });

  it('takes the arguments it is given, never the raw text (P16)', () => {
    const { answer } = answerOf(start('1', 'Read', ''), whole('1', '{"broken'), finish);
    expect(answer.messageParts('p/m', noArgs)).toMatchObject([{ type: 'tool-call', args: {} }]);
  });
});
