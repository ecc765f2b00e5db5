import { appendBodyBytes, decodeAppend, fault } from '@tandem/protocol';
import { breathe } from '../breathe.ts';
import { readRequestHeaders } from '../stream/request-headers.ts';
import { bearerOf } from './bearer.ts';
import { readBody } from './body.ts';
import type { Request, Response } from './listen.ts';
import { reply } from './reply.ts';
import type { RouteContext } from './routes.ts';

/** BidiAppend (§2, R7): one message up, acknowledged as soon as the stream took it. */
export async function bidiAppend(
  request: Request,
  response: Response,
  { registry, authenticator, clock, messageBytes }: RouteContext,
): Promise<void> {
  const { owner } = authenticator.authenticate(bearerOf(request));
  const type = String(request.headers['content-type'] ?? '');
  if (!/^application\/proto\b/.test(type)) {
    throw fault('wrong_content_type', `BidiAppend takes application/proto, not ${JSON.stringify(type)}.`);
  }
  const body = await readBody(request, appendBodyBytes(messageBytes), clock);
  await breathe(body.length);
  const { requestId, seqno, message, bytes } = decodeAppend(body, { maxBytes: messageBytes });
  await breathe(bytes.length);
  await registry.accept({ owner, requestId, seqno, message, bytes, headers: readRequestHeaders(request.headers) });
  reply(response, 200, 'application/proto');
}
