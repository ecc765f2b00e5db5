import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EnvelopeReader, FLAG_COMPRESSED, FLAG_END_STREAM, encodeEnvelope } from './envelope.ts';
import { Fault } from './fault.ts';

function faultOf(action: () => unknown): Fault {
  try {
    action();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** A body cut at the given places. */
function cut(body: Uint8Array, places: number[]): Uint8Array[] {
  const at = [...new Set([0, ...places.map(place => place % (body.length + 1)), body.length])].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => body.subarray(at[index], end));
}

describe('encodeEnvelope', () => {
  it('[§1.2-header-five-bytes] writes flags, length in big endian and payload', () => {
    const heartbeat = Uint8Array.of(0x0a, 0x02, 0x6a, 0x00);
    expect([...encodeEnvelope(heartbeat)]).toEqual([0x00, 0, 0, 0, 4, 0x0a, 0x02, 0x6a, 0x00]);
    expect([...encodeEnvelope(Uint8Array.of(0x7b, 0x7d), FLAG_END_STREAM)]).toEqual([0x02, 0, 0, 0, 2, 0x7b, 0x7d]);
    expect([...encodeEnvelope(new Uint8Array(258)).subarray(0, 5)]).toEqual([0x00, 0, 0, 1, 2]);
  });
});

describe('EnvelopeReader', () => {
  it('[§1.2-any-split] gives the same frames wherever the bytes are cut', () => {
    const frame = fc.record({ flags: fc.integer({ min: 0, max: 3 }), payload: fc.uint8Array({ maxLength: 300 }) });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 40 }), (frames, places) => {
        const body = Buffer.concat(frames.map(({ flags, payload }) => encodeEnvelope(payload, flags)));
        const reader = new EnvelopeReader({ maxBytes: 300 });
        const got = cut(body, places).flatMap(chunk => reader.push(chunk));
        reader.finish();
        expect(got.map(({ flags, payload }) => ({ flags, payload: [...payload] }))).toEqual(
          frames.map(({ flags, payload }) => ({ flags, payload: [...payload] })),
        );
      }),
    );
  });

  it('[§1.2-compressed-bit, §1.2-end-bit] takes both flag bits apart', () => {
    const flags = [0, FLAG_COMPRESSED, FLAG_END_STREAM, FLAG_COMPRESSED | FLAG_END_STREAM];
    const body = Buffer.concat(flags.map(one => encodeEnvelope(Uint8Array.of(1), one)));
    expect(new EnvelopeReader({ maxBytes: 10 }).push(body)).toMatchObject([
      { flags: 0, compressed: false, endStream: false },
      { flags: 1, compressed: true, endStream: false },
      { flags: 2, compressed: false, endStream: true },
      { flags: 3, compressed: true, endStream: true },
    ]);
  });

  it('gives an empty payload as soon as its head is whole', () => {
    const reader = new EnvelopeReader({ maxBytes: 10 });
    expect(reader.push(Uint8Array.of(0, 0, 0, 0))).toEqual([]);
    expect(reader.push(Uint8Array.of(0))).toHaveLength(1);
    expect(reader.buffered).toBe(0);
  });

  it('[§1.2-reserved-bits] refuses reserved flag bits with the flags it saw', () => {
    const made = faultOf(() => new EnvelopeReader({ maxBytes: 10 }).push(Uint8Array.of(0x04, 0, 0, 0, 0)));
    expect(made.name_).toBe('malformed_message');
    expect(made.message).toContain('0x04');
  });

  it('[§1.2-length-before-buffering] refuses a length over the limit at the head, naming both numbers', () => {
    const reader = new EnvelopeReader({ maxBytes: 1000 });
    const made = faultOf(() => reader.push(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff)));
    expect(made.name_).toBe('message_too_large');
    expect(made.code).toBe('resource_exhausted');
    expect(made.message).toContain('4294967295');
    expect(made.message).toContain('1000');
    expect(made.additionalInfo).toEqual({ limit_bytes: '1000', actual_bytes: '4294967295' });
  });

  it('takes a payload of exactly the limit', () => {
    const reader = new EnvelopeReader({ maxBytes: 4 });
    expect(reader.push(encodeEnvelope(Uint8Array.of(1, 2, 3, 4)))).toHaveLength(1);
    expect(faultOf(() => reader.push(encodeEnvelope(new Uint8Array(5)))).name_).toBe('message_too_large');
  });

  it('[§1.2-truncated-named] says at the end how much of a frame is missing', () => {
    const inPayload = new EnvelopeReader({ maxBytes: 100 });
    inPayload.push(Uint8Array.of(0, 0, 0, 0, 10, 1, 2, 3));
    expect(inPayload.buffered).toBe(8);
    expect(faultOf(() => inPayload.finish()).message).toContain('7 of 10 bytes are missing');
    const inHead = new EnvelopeReader({ maxBytes: 100 });
    inHead.push(Uint8Array.of(0, 0));
    expect(faultOf(() => inHead.finish()).message).toContain('3 of 5 bytes are missing');
  });

  it('reads 4 MiB in chunks of 64 bytes with a copied volume that grows only linearly', () => {
    const payload = new Uint8Array(4 << 20).fill(7);
    const body = encodeEnvelope(payload);
    const reader = new EnvelopeReader({ maxBytes: payload.length });
    const set = Uint8Array.prototype.set;
    let copied = 0;
    Uint8Array.prototype.set = function (this: Uint8Array, source: ArrayLike<number>, offset?: number) {
      copied += source.length;
      set.call(this, source, offset);
    };
    const got = [];
    try {
      for (let at = 0; at < body.length; at += 64) got.push(...reader.push(body.subarray(at, at + 64)));
    } finally {
      Uint8Array.prototype.set = set;
    }
    expect(got[0]?.payload.length).toBe(payload.length);
    expect(copied).toBeLessThan(3 * payload.length);
  });
});
