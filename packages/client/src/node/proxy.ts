import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The proxy that the environment names for an address; undefined for a direct way. This machine itself is always reached directly. */
export function proxyOf(url: URL, env: NodeJS.ProcessEnv): URL | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  )
    return undefined;
  const read = (name: string) => env[name.toLowerCase()] || env[name];
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (isExcepted(host, port, read('NO_PROXY') ?? '')) return undefined;
  const named = (url.protocol === 'https:' ? read('HTTPS_PROXY') : read('HTTP_PROXY')) ?? read('ALL_PROXY');
  if (named === undefined) return undefined;
  const address = /^\w+:\/\//.test(named) ? named : `http://${named}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new Error('the proxy that the environment names is no http or https address');
  return new URL(address);
}

function isExcepted(host: string, port: string, list: string): boolean {
  return list.split(/[\s,]+/).some(entry => {
    if (entry === '*') return true;
    const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === '' || (wanted !== undefined && wanted !== port)) return false;
    const suffix = name.replace(/^\*?\./, '');
    return host === suffix || host.endsWith(`.${suffix}`);
  });
}

/** The header that brings a proxy its user and password, when its address holds them. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}

/** Asks a proxy for a way to `host:port`; the socket is then that of the other side. */
export function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Duplex> {
  const { request } = proxy.protocol === 'https:' ? https : http;
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
