import { EnvelopeReader, Fault, fault } from '@tandem/protocol';
import type { Envelope } from '@tandem/protocol';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Clock } from '../clock.ts';
import { CONNECTION_SILENCE_MS } from '../limits.ts';
import { endFrame } from '../stream/frame.ts';
import { bodyChunks } from './body-chunks.ts';
import { crossOriginHeaders } from './door.ts';
import { chooseCodec } from './frame-writer.ts';
import type { FrameCodec } from './frame-writer.ts';
import type { Request, Response } from './listen.ts';
import { letGo, replyFault } from './reply.ts';

/** The content type of every streaming call here: Connect envelopes with protobuf in them, both ways (R3). */
export const CONNECT_PROTO = 'application/connect+proto';

/**
 * What every streaming call begins with: another content type is refused with 415; else the head goes out before anything is
 * read (R4), and from then on every failure is an end frame under HTTP 200 (R6). `work` runs behind that.
 */
export async function streamCall(
  request: Request,
  response: Response,
  name: string,
  work: (codec: FrameCodec) => Promise<void>,
): Promise<void> {
  const type = String(request.headers['content-type'] ?? '');
  if (!/^application\/connect\+proto\s*(;|$)/.test(type)) {
    replyFault(
      response,
      fault('wrong_content_type', `${name} takes ${CONNECT_PROTO}, not ${JSON.stringify(type)}.`),
      415,
    );
    request.resume();
    return;
  }
  const codec = chooseCodec(request.headers['connect-accept-encoding']);
  response.writeHead(200, {
    'content-type': CONNECT_PROTO,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    'connect-accept-encoding': 'gzip,br',
    ...(codec === 'identity' ? {} : { 'connect-content-encoding': codec }),
    ...crossOriginHeaders(request),
  });
  response.flushHeaders();
  try {
    await work(codec);
  } catch (error) {
    response.end(endFrame(Fault.from(error)));
    letGo(request, response);
  }
}

/** The one message of a server-streaming request, in however many pieces it comes; at most `maxBytes`. */
export async function readOneMessage(
  request: Request,
  clock: Clock,
  name: string,
  maxBytes: number,
): Promise<Uint8Array> {
  let message: Uint8Array | undefined;
  for await (const payload of unpackMessages(
    request,
    bodyChunks(request, clock, CONNECTION_SILENCE_MS),
    name,
    maxBytes,
  )) {
    if (message !== undefined) throw fault('malformed_message', `${name} takes one message; more came.`);
    message = payload;
  }
  if (message === undefined)
    throw fault('malformed_message', `The request of ${name} is empty. Send one envelope with its message.`);
  return message;
}

/**
 * The messages of a request that goes on as long as its call, decompressed. Each is a view on what was received: copy before keeping.
 * @throws Fault `malformed_message` or `message_too_large`; what came before it was given out.
 */
export function readMessages(request: Request, name: string, maxBytes: number): AsyncGenerator<Uint8Array> {
  return unpackMessages(request, request as AsyncIterable<Uint8Array>, name, maxBytes);
}

async function* unpackMessages(
  request: Request,
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const reader = new EnvelopeReader({ maxBytes });
  let ended = false;
  try {
    for await (const chunk of chunks) {
      for (const envelope of reader.push(chunk)) {
        if (ended) throw fault('malformed_message', `${name}: something follows the end of the request.`);
        if (envelope.endStream) ended = true;
        else yield unpack(envelope, String(request.headers['connect-content-encoding'] ?? 'identity'), maxBytes);
      }
    }
    reader.finish();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw fault('malformed_message', `The request of ${name} broke off.`, { cause: error });
  }
}

function unpack({ compressed, payload }: Envelope, codec: string, maxBytes: number): Uint8Array {
  if (!compressed) return payload;
  const decompress = codec === 'gzip' ? gunzipSync : codec === 'br' ? brotliDecompressSync : undefined;
  if (!decompress) {
    throw fault(
      'malformed_message',
      `An envelope is compressed, but connect-content-encoding is ${JSON.stringify(codec)}. Use gzip or br, or send it plain.`,
    );
  }
  try {
    return decompress(payload, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw fault(
        'message_too_large',
        `A message has more than ${maxBytes} bytes once decompressed; that is the limit.`,
      );
    }
    throw fault('malformed_message', `An envelope is not ${codec}, as connect-content-encoding says.`, { cause });
  }
}
