import { fault } from '@tandem/protocol';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { BODY_MS } from '../limits.ts';
import { bodyChunks } from './body-chunks.ts';
import type { Request } from './listen.ts';

const decoders = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) } as const;

/** How much more than the limit is read and thrown away, so that the sender hears why instead of a reset. */
const DRAIN_FACTOR = 4;

/**
 * The whole body of a unary request, decompressed (F22).
 * @param maxBytes the longest body that is taken, before and after decompression
 * @throws Fault `message_too_large` with the limit and the actual size, `malformed_message` when it cannot be decompressed, broke off, or came too slowly
 */
export async function readBody(request: Request, maxBytes: number, clock: Clock = systemClock): Promise<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? NaN);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of bodyChunks(request, clock, BODY_MS)) {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        if (size > maxBytes * DRAIN_FACTOR)
          throw tooLarge(maxBytes, Number.isFinite(declared) ? declared : size, declared > size ? '' : ' at least');
      }
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'Fault') throw error;
    throw fault('malformed_message', `The request body broke off after ${size} bytes.`, { cause: error });
  }
  if (size > maxBytes) throw tooLarge(maxBytes, size, '');
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return decompress(body, String(request.headers['content-encoding'] ?? 'identity'), maxBytes);
}

async function decompress(body: Uint8Array, encoding: string, maxBytes: number): Promise<Uint8Array> {
  if (encoding === 'identity' || encoding === '') return body;
  const decode = decoders[encoding as keyof typeof decoders];
  if (!decode) {
    throw fault(
      'malformed_message',
      `content-encoding ${JSON.stringify(encoding)} is not understood. Use gzip, br, deflate or identity.`,
    );
  }
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes, maxBytes, ' more than');
    throw fault('malformed_message', `The request body is not ${encoding}, as its content-encoding says.`, {
      cause: error,
    });
  }
}

function tooLarge(limit: number, actual: number, mark: string): Error {
  return fault(
    'message_too_large',
    `The request body has${mark} ${actual} bytes; the limit is ${limit}. Send less, or raise limits.messageBytes in the config.`,
  );
}
