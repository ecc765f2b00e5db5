import { EnvelopeReader, encodeEnvelope, limits } from '@tandem/protocol';
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { COMPRESS_TO_BYTES } from '../limits.ts';
import { chooseCodec, frameSink } from './frame-writer.ts';
import type { FrameCodec } from './frame-writer.ts';
import type { Response } from './listen.ts';

/** A response that keeps what is written; `fails` makes it lose every write. */
function recorder(fails = false) {
  const chunks: Uint8Array[] = [];
  const response = {
    write(bytes: Uint8Array, done?: (error?: Error) => void) {
      chunks.push(bytes);
      done?.(fails ? new Error('gone') : undefined);
      return true;
    },
  };
  return { chunks, response: response as unknown as Response };
}

function writeFrames(codec: FrameCodec, payloads: Uint8Array[]) {
  const { chunks, response } = recorder();
  frameSink(response, codec).write(
    payloads.map(payload => encodeEnvelope(payload)),
    () => {},
  );
  return { chunks, envelopes: new EnvelopeReader({ maxBytes: 64 * 1024 * 1024 }).push(Buffer.concat(chunks)) };
}

describe('the codec of a response', () => {
  it('is one that the request names, gzip before br, and none when it names none that is known', () => {
    expect(chooseCodec(undefined)).toBe('identity');
    expect(chooseCodec('gzip')).toBe('gzip');
    expect(chooseCodec('br, gzip;q=0.5')).toBe('gzip');
    expect(chooseCodec('zstd, br')).toBe('br');
    expect(chooseCodec('zstd, identity')).toBe('identity');
  });
});

describe('a sink of frames', () => {
  it('writes the frames of one tick in one piece, as they are', () => {
    const { chunks } = writeFrames('identity', [Uint8Array.of(1), Uint8Array.of(2)]);
    expect(chunks.map(chunk => [...chunk])).toEqual([[0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 2]]);
  });

  it('writes a large frame where it lies, between the joined small ones', () => {
    const small = encodeEnvelope(Uint8Array.of(1));
    const large = encodeEnvelope(new Uint8Array(1024 * 1024));
    const { chunks, response } = recorder();
    let written = 0;
    frameSink(response, 'identity').write([small, small, large, small], () => written++);
    expect(chunks.map(chunk => chunk.length)).toEqual([12, large.length, 6]);
    expect(chunks[1]!.buffer).toBe(large.buffer);
    expect(written).toBe(1);
  });

  it('compresses large frames alone, and flags those that it did', () => {
    const large = Buffer.from('word '.repeat(limits.compressFromBytes));
    const { envelopes } = writeFrames('gzip', [Buffer.alloc(limits.compressFromBytes - 1), large]);
    expect(envelopes.map(one => one.flags)).toEqual([0, 1]);
    expect(envelopes[1]!.payload.length).toBeLessThan(large.length);
    expect(gunzipSync(envelopes[1]!.payload)).toEqual(large);
    const brotli = writeFrames('br', [large]).envelopes[0]!;
    expect(brotli.flags).toBe(1);
    expect(brotliDecompressSync(brotli.payload)).toEqual(large);
  });

  it('leaves a frame plain that does not become smaller, or that would hold up the others', () => {
    const { envelopes } = writeFrames('gzip', [randomBytes(4096), Buffer.alloc(COMPRESS_TO_BYTES + 1)]);
    expect(envelopes.map(one => one.flags)).toEqual([0, 0]);
  });

  it('does not say that frames are out when their write failed', () => {
    let written = 0;
    frameSink(recorder(true).response, 'identity').write([Uint8Array.of(1)], () => written++);
    frameSink(recorder().response, 'identity').write([Uint8Array.of(1)], () => written++);
    expect(written).toBe(1);
  });
});
