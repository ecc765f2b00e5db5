import { FLAG_COMPRESSED, encodeEnvelope, limits } from '@tandem/protocol';
import { constants, gzipSync } from 'node:zlib';
import { COMPRESS_TO_BYTES } from '../limits.ts';
import type { FrameSink } from '../stream/downlink.ts';
import type { Frame } from '../stream/frame.ts';
import type { Response } from './listen.ts';

/** Codecs of frames; the response names the one in use (R5). */
export type FrameCodec = 'identity' | 'gzip';

/** The codec for a reader that named these in `connect-accept-encoding`; none named, none used. */
export function chooseCodec(accepted: string | string[] | undefined): FrameCodec {
  const named = String(accepted ?? '').split(',').map(one => one.trim().split(';')[0]);
  return named.includes('gzip') ? 'gzip' : 'identity';
}

const HEAD = limits.envelopeHeadBytes;

function compress(frame: Frame): Frame {
  const size = frame.length - HEAD;
  if (size < limits.compressFromBytes || size > COMPRESS_TO_BYTES) return frame;
  const packed = gzipSync(frame.subarray(HEAD), { level: constants.Z_BEST_SPEED });
  return packed.length < size ? encodeEnvelope(packed, (frame[0] ?? 0) | FLAG_COMPRESSED) : frame;
}

/** Writes frames to a response: joined into one piece, so that one tick is one write and one chunk. */
export function frameSink(response: Response, codec: FrameCodec): FrameSink {
  return {
    write(frames, written) {
      const ready = codec === 'gzip' ? frames.map(compress) : frames;
      const bytes = ready.length === 1 ? ready[0]! : Buffer.concat(ready);
      return response.write(bytes, error => {
        if (!error) written();
      });
    },
    end() {
      response.end();
    },
    onDrain(call) {
      response.on('drain', call);
    },
  };
}
