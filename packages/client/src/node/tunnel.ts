import type http from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { loadHttp, loadHttps } from './builtin-http.ts';
import { proxyHeaders } from './proxy.ts';

/** Asks a proxy for a way to `host:port`; the socket is then that of the other side. */
export function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Duplex> {
  const { request } = proxy.protocol === 'https:' ? loadHttps() : loadHttp();
  return new Promise((resolve, reject) => {
    const asking = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      signal,
    });
    asking.once('connect', (answer: http.IncomingMessage, socket: Socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} refused the way to ${target} with HTTP ${answer.statusCode}`));
    });
    asking.once('response', answer => {
      answer.destroy();
      reject(new Error(`the proxy ${proxy.host} does not open ways (HTTP ${answer.statusCode})`));
    });
    asking.once('error', error =>
      reject(new Error(`the proxy ${proxy.host} cannot be reached: ${error.message}`, { cause: error })),
    );
    asking.end();
  });
}
