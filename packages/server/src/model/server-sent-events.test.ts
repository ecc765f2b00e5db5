import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServerSentEventReader } from './server-sent-events.ts';

const readAll = (...pieces: string[]) => {
  const reader = new ServerSentEventReader({ maxCharacters: 1000 });
  return [...pieces.flatMap(piece => reader.push(piece)), ...reader.finish()];
};

const TORTURE =
  ': hello\r\n\r\nevent: ping\ndata: 1\n\ndata:2\r\rid: 7\r\nretry: 3\r\ndata: a\r\ndata:\r\ndata:  b\r\n\r\nfoo\n\n\ndata: last';
const EVENTS = [{ event: 'ping', data: '1' }, { data: '2' }, { data: 'a\n\n b' }, { data: 'last' }];

describe('a stream of events', () => {
  test('is read with all line ends, comments, unknown fields and without a closing blank line [P31]', () => {
    expect(readAll(TORTURE)).toEqual(EVENTS);
  });

  test('is read the same however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(TORTURE.length), { maxLength: 12 }), cuts => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), TORTURE.length];
        const pieces = at.slice(1).map((end, index) => TORTURE.slice(at[index], end));
        expect(readAll(...pieces)).toEqual(EVENTS);
      }),
    );
  });

  test('ends when one event is longer than the limit, however it comes in', () => {
    expect(() => readAll(`data: ${'x'.repeat(1000)}`)).toThrow('longer than 1000 characters');
    expect(() => readAll(...Array.from({ length: 30 }, () => 'data: 0123456789012345678901234567890\n'))).toThrow(
      'longer than',
    );
  });

  test('takes a long line in small pieces in time that grows with its length', () => {
    const reader = new ServerSentEventReader({ maxCharacters: 64 * 1024 * 1024 });
    reader.push('data: ');
    for (let at = 0; at < 4096; at++) reader.push('x'.repeat(4096));
    expect(reader.push('\n\n')[0]?.data.length).toBe(4096 * 4096);
  }, 5_000);
});
