import { fault } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import type { Request } from './listen.ts';

export interface DoorOptions {
  /** The address that is listened on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  /** Whether callers need a key: then other addresses may come in. */
  readonly hasKeys: boolean;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);
const isLoopbackAddress = (address: string) =>
  address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');

/**
 * Decides who may come in at all: without keys only this machine; on a loopback address only requests for a name of this
 * machine (a web page that rebinds its own name to 127.0.0.1 sends its own); from web pages only listed origins.
 * Returns what to tell who may not.
 */
export function checkDoor(request: Request, options: DoorOptions): Fault | undefined {
  const address = request.socket?.remoteAddress ?? '';
  if (!options.hasKeys && !isLoopbackAddress(address)) {
    return fault(
      'forbidden_origin',
      'This server has no keys, so it serves only the machine it runs on. Add auth.keys to its config to let others in.',
    );
  }
  const { headers } = request;
  const named = String(headers[':authority'] ?? headers.host ?? '').toLowerCase();
  const host = named.replace(/:\d+$/, '');
  const ours =
    LOOPBACK.has(host) ||
    host === options.host.toLowerCase() ||
    options.allowedHosts.some(one => one.toLowerCase() === host || one.toLowerCase() === named);
  const onLoopback = LOOPBACK.has(options.host) || isLoopbackAddress(options.host);
  if (!ours && (onLoopback || !options.hasKeys)) {
    return fault(
      'forbidden_origin',
      `This server is not ${JSON.stringify(named.slice(0, 100))}. If it is reached under that name, add it to listen.allowedHosts in its config.`,
    );
  }
  const origin = headers['origin'];
  if (origin !== undefined && !options.allowedOrigins.includes(String(origin))) {
    return fault(
      'forbidden_origin',
      `Pages of ${JSON.stringify(String(origin).slice(0, 100))} may not call this server. Add the origin to listen.allowedOrigins in its config to allow it.`,
    );
  }
  return undefined;
}

/** What a listed web page's browser wants to see. */
export function crossOriginHeaders(request: Request): Record<string, string> {
  const origin = request.headers['origin'];
  if (origin === undefined) return {};
  return {
    'access-control-allow-origin': String(origin),
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': String(request.headers['access-control-request-headers'] ?? '*'),
    'access-control-expose-headers': 'connect-content-encoding',
    'access-control-max-age': '600',
    vary: 'origin',
  };
}
