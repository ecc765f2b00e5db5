import { fromBinary } from '@bufbuild/protobuf';
import { Fault, fault } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import type { AgentClientMessage } from '@tandem/protocol/agent';
import { randomUUID } from 'node:crypto';
import { readRequestHeaders } from '../stream/request-headers.ts';
import { bearerOf } from './bearer.ts';
import { frameSink } from './frame-writer.ts';
import type { Request, Response } from './listen.ts';
import type { RouteContext } from './routes.ts';
import { readMessages, streamCall } from './stream-call.ts';

/**
 * Run (R1): both root messages on one call, the client's in the order they are sent. That the client closes its direction is no
 * cancel (R20); that it drops the call is, at once, since nothing could come back to it.
 */
export function runBidi(request: Request, response: Response, context: RouteContext): Promise<void> {
  return streamCall(request, response, 'Run', async codec => {
    const { owner } = context.authenticator.authenticate(bearerOf(request));
    const stream = context.registry.openAlone(owner, String(request.headers['x-request-id'] || randomUUID()));
    const detach = stream.attach(frameSink(response, codec));
    response.on('close', () => {
      detach();
      stream.fail(fault('canceled', 'The client closed the call.'));
    });
    const headers = readRequestHeaders(request.headers);
    let seqno = 0;
    try {
      for await (const payload of readMessages(request, 'Run', context.messageBytes)) {
        // views on what the socket gave: the run keeps parts of it
        const bytes = Uint8Array.from(payload);
        await stream.accept(seqno++, readMessage(bytes), headers, bytes.length);
      }
      stream.endUplink();
    } catch (error) {
      stream.fail(Fault.from(error));
    }
  });
}

function readMessage(bytes: Uint8Array): AgentClientMessage {
  try {
    return fromBinary(AgentClientMessageSchema, bytes);
  } catch (cause) {
    throw fault('malformed_message', `A message of ${bytes.length} bytes on Run is no AgentClientMessage.`, { cause });
  }
}
