import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { AwsEventDecoder } from './aws-event-stream.ts';

/** A frame with headers of every type that has a length of its own. */
function frameOf(headers: [string, number, Uint8Array][], data: string): Buffer {
  const head = Buffer.concat(
    headers.map(([name, type, value]) => {
      const length = type === 6 || type === 7 ? [value.length >> 8, value.length & 255] : [];
      return Buffer.from([name.length, ...Buffer.from(name), type, ...length, ...value]);
    }),
  );
  const frame = Buffer.alloc(16 + head.length + Buffer.byteLength(data));
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  head.copy(frame, 12);
  frame.write(data, 12 + head.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

const text = (value: string) => Buffer.from(value);
const EVENT = frameOf(
  [
    [':date', 8, new Uint8Array(8)],
    ['flag', 0, new Uint8Array(0)],
    ['bytes', 6, text('x')],
    [':event-type', 7, text('contentBlockDelta')],
  ],
  '{"delta":{"text":"wörld"}}',
);
const EXPECTED = { event: 'contentBlockDelta', data: '{"delta":{"text":"wörld"}}' };

test.each([1, 5, 64, EVENT.length * 2])('frames come out whole from pieces of %s bytes', size => {
  const decoder = new AwsEventDecoder();
  const bytes = Buffer.concat([EVENT, EVENT]);
  const events = [];
  for (let at = 0; at < bytes.length; at += size) events.push(...decoder.push(bytes.subarray(at, at + size)));
  expect([...events, ...decoder.finish()]).toEqual([EXPECTED, EXPECTED]);
});

test('an exception becomes an error with its kind and words', () => {
  const frame = frameOf([[':exception-type', 7, text('throttlingException')]], '{"message":"Slow down."}');
  expect(new AwsEventDecoder().push(frame)).toEqual([
    { event: 'error', data: '{"error":{"type":"throttlingException","message":"Slow down."}}' },
  ]);
});

test('a damaged frame and an end inside a frame are failures', () => {
  for (const at of [2, 14, EVENT.length - 6]) {
    const damaged = Buffer.from(EVENT);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(() => new AwsEventDecoder().push(damaged)).toThrow('a frame is damaged');
  }
  const decoder = new AwsEventDecoder();
  expect(decoder.push(EVENT.subarray(0, -1))).toEqual([]);
  expect(() => decoder.finish()).toThrow('the answer ended inside a frame');
});
