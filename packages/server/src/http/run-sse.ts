import { fromBinary } from '@bufbuild/protobuf';
import { fault } from '@tandem/protocol';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { RUN_SSE_REQUEST_BYTES } from '../limits.ts';
import { bearerOf } from './bearer.ts';
import { frameSink } from './frame-writer.ts';
import type { Request, Response } from './listen.ts';
import type { RouteContext } from './routes.ts';
import { readOneMessage, streamCall } from './stream-call.ts';

/** RunSSE (§15.1): one request id up, frames down until the end frame. Not text/event-stream: Connect envelopes both ways (R3). */
export function runSse(request: Request, response: Response, context: RouteContext): Promise<void> {
  return streamCall(request, response, 'RunSSE', async codec => {
    const { owner } = context.authenticator.authenticate(bearerOf(request));
    const requestId = readRequestId(await readOneMessage(request, context.clock, 'RunSSE', RUN_SSE_REQUEST_BYTES));
    if (response.destroyed) return;
    const stream = context.registry.openForReader(owner, requestId);
    const detach = stream.attach(frameSink(response, codec));
    response.on('close', detach);
    if (response.destroyed) detach();
  });
}

function readRequestId(message: Uint8Array): string {
  let requestId: string;
  try {
    ({ requestId } = fromBinary(BidiRequestIdSchema, message));
  } catch (cause) {
    throw fault('malformed_message', 'The request of RunSSE is no BidiRequestId.', { cause });
  }
  if (requestId === '')
    throw fault('malformed_message', 'request_id is empty. Send the id under which the run request is appended.');
  return requestId;
}
