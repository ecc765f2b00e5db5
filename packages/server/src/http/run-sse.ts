import { fromBinary } from '@bufbuild/protobuf';
import { EnvelopeReader, Fault, fault } from '@tandem/protocol';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { gunzipSync } from 'node:zlib';
import { RUN_SSE_REQUEST_BYTES } from '../limits.ts';
import { endFrame } from '../stream/frame.ts';
import { bearerOf } from './bearer.ts';
import { crossOriginHeaders } from './door.ts';
import { chooseCodec, frameSink } from './frame-writer.ts';
import type { Request, Response } from './listen.ts';
import { replyFault } from './reply.ts';
import type { RouteContext } from './routes.ts';

export const CONNECT_PROTO = 'application/connect+proto';

/**
 * RunSSE (§15.1): one request id up, frames down until the end frame. Not text/event-stream: Connect envelopes both ways (R3).
 * The head goes out before anything is read (R4); from then on every failure is an end frame (R6).
 */
export async function runSse(request: Request, response: Response, context: RouteContext): Promise<void> {
  const type = String(request.headers['content-type'] ?? '');
  if (!/^application\/connect\+proto\b/.test(type)) {
    replyFault(response, fault('wrong_content_type', `RunSSE takes ${CONNECT_PROTO}, not ${JSON.stringify(type)}.`), 415);
    request.resume();
    return;
  }
  const codec = chooseCodec(request.headers['connect-accept-encoding']);
  response.writeHead(200, {
    'content-type': CONNECT_PROTO,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    'connect-accept-encoding': 'gzip',
    ...(codec === 'identity' ? {} : { 'connect-content-encoding': codec }),
    ...crossOriginHeaders(request),
  });
  response.flushHeaders();
  try {
    const { owner } = context.authenticator.authenticate(bearerOf(request));
    const requestId = await readRequestId(request);
    if (response.destroyed) return;
    const stream = context.registry.openForReader(owner, requestId);
    const detach = stream.attach(frameSink(response, codec));
    response.on('close', detach);
    if (response.destroyed) detach();
  } catch (error) {
    response.end(endFrame(Fault.from(error)));
    request.resume();
  }
}

/** The one envelope of the request, in however many pieces it comes. */
async function readRequestId(request: Request): Promise<string> {
  const reader = new EnvelopeReader({ maxBytes: RUN_SSE_REQUEST_BYTES });
  let requestId: string | undefined;
  try {
    for await (const chunk of request as AsyncIterable<Uint8Array>) {
      for (const envelope of reader.push(chunk)) {
        if (envelope.endStream || requestId !== undefined) throw fault('malformed_message', 'RunSSE takes one message, a BidiRequestId; more came.');
        requestId = readMessage(envelope.compressed ? unpack(envelope.payload, request) : envelope.payload);
      }
    }
    reader.finish();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw fault('malformed_message', 'The request of RunSSE broke off.', { cause: error });
  }
  if (requestId === undefined) throw fault('malformed_message', 'The request of RunSSE is empty. Send one envelope with a BidiRequestId.');
  return requestId;
}

function unpack(payload: Uint8Array, request: Request): Uint8Array {
  const codec = String(request.headers['connect-content-encoding'] ?? '');
  if (codec !== 'gzip') {
    throw fault('malformed_message', `The envelope is compressed, but connect-content-encoding is ${JSON.stringify(codec)}. Use gzip, or send it plain.`);
  }
  try {
    return gunzipSync(payload, { maxOutputLength: RUN_SSE_REQUEST_BYTES });
  } catch (cause) {
    throw fault('malformed_message', 'The envelope of RunSSE is not gzip, as its flags say.', { cause });
  }
}

function readMessage(payload: Uint8Array): string {
  let requestId: string;
  try {
    ({ requestId } = fromBinary(BidiRequestIdSchema, payload));
  } catch (cause) {
    throw fault('malformed_message', 'The request of RunSSE is no BidiRequestId.', { cause });
  }
  if (requestId === '') throw fault('malformed_message', 'request_id is empty. Send the id under which the run request is appended.');
  return requestId;
}
