import { FLAG_COMPRESSED, encodeEnvelope, limits } from '@tandem/protocol';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { COMPRESS_TO_BYTES } from '../limits.ts';
import type { FrameSink } from '../stream/downlink.ts';
import type { Frame } from '../stream/frame.ts';
import { frameBytes, joinFrames } from '../stream/frame-bytes.ts';
import type { Response } from './listen.ts';

/** Codecs of frames; the response names the one in use (R5). */
export type FrameCodec = 'identity' | 'gzip' | 'br';

/** The codec for a client that named these in `connect-accept-encoding` or `accept-encoding`; none named, none used. */
export function chooseCodec(accepted: string | string[] | undefined): FrameCodec {
  const named = String(accepted ?? '')
    .split(',')
    .map(one => one.trim().split(';')[0]);
  return named.includes('gzip') ? 'gzip' : named.includes('br') ? 'br' : 'identity';
}

/** What a poll writes whose only frame is its end: the callback comes all the same. */
const NOTHING = new Uint8Array(0);

const HEAD = limits.envelopeHeadBytes;

/** Quality 4: the default of 11 takes a hundred times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Bytes as a codec has them: fast before small. */
export function packBytes(bytes: Uint8Array, codec: Exclude<FrameCodec, 'identity'>): Buffer {
  return codec === 'br' ? brotliCompressSync(bytes, BROTLI) : gzipSync(bytes, { level: constants.Z_BEST_SPEED });
}

function compress(frame: Frame, codec: Exclude<FrameCodec, 'identity'>): Frame {
  const size = frame.length - HEAD;
  if (size < limits.compressFromBytes || size > COMPRESS_TO_BYTES) return frame;
  if (frameBytes(frame) !== frame.length) return frame; // several small ones
  const payload = frame.subarray(HEAD);
  const packed = packBytes(payload, codec);
  return packed.length < size ? encodeEnvelope(packed, (frame[0] ?? 0) | FLAG_COMPRESSED) : frame;
}

/** Writes frames to a response: the small ones joined, so that one tick is mostly one write and one chunk. */
export function frameSink(response: Response, codec: FrameCodec): FrameSink {
  return {
    write(frames, written) {
      const ready = codec === 'identity' ? frames : frames.map(frame => compress(frame, codec));
      const pieces = joinFrames(ready);
      const last = pieces.pop() ?? NOTHING;
      for (const piece of pieces) response.write(piece);
      return response.write(last, error => {
        if (!error) written();
      });
    },
    end() {
      response.end();
    },
    drop() {
      response.destroy();
    },
    onDrain(call) {
      response.on('drain', call);
    },
  };
}
