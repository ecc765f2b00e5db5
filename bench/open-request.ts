import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';

/** The one message of a RunSSE request. */
export const openRequestBody = (requestId: string): Uint8Array =>
  encodeEnvelope(toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId })));

/** The bytes of a RunSSE request over HTTP/1.1, for readers that are no HTTP client. */
export function openRequest(requestId: string, { close = false } = {}): Buffer {
  const body = openRequestBody(requestId);
  const head = [
    'POST /agent.v1.AgentService/RunSSE HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/connect+proto',
    'authorization: Bearer bench',
    ...(close ? ['connection: close'] : []),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
