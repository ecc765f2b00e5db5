import { encodeUnaryError } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import { LEFT_OVER_MS } from '../limits.ts';
import type { Request, Response } from './listen.ts';

/** Answers a unary call with bytes. A response that is already gone is left alone. */
export function reply(
  response: Response,
  status: number,
  type: string | undefined,
  body: Uint8Array | string = '',
): void {
  if (response.headersSent || response.destroyed || response.writableEnded) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, { ...(type ? { 'content-type': type } : {}), 'content-length': bytes.length });
  response.end(bytes);
}

export function replyJson(response: Response, status: number, value: unknown): void {
  reply(response, status, 'application/json', JSON.stringify(value));
}

/** A Connect unary error: JSON with code, message and details, under the status of its code (or one that HTTP itself wants). */
export function replyFault(response: Response, told: Fault, status?: number): void {
  const encoded = encodeUnaryError(told);
  reply(response, status ?? encoded.status, 'application/json', encoded.body);
}

/**
 * What is left of a request body once it was answered: what is on its way is thrown away, so that the connection stays usable; a body
 * that goes on and on costs the connection.
 */
export function letGo(request: Request, response: Response): void {
  request.resume();
  if (request.complete) return;
  const cut = setTimeout(() => request.destroy(), LEFT_OVER_MS);
  cut.unref();
  request.once('end', () => clearTimeout(cut));
  response.once('close', () => clearTimeout(cut));
}
