import type http from 'node:http';
import type https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { loadHttp, loadHttps } from './builtin-http.ts';
import { proxyHeaders, proxyOf } from './proxy.ts';
import { openTunnel } from './tunnel.ts';

/** One request of HTTP/1.1. */
export interface HttpRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
  signal: AbortSignal;
  /** Names proxies. */
  env: NodeJS.ProcessEnv;
  /** Finds the address of a host, instead of the system. */
  lookup?: LookupFunction;
  /** Connections to use again; each request has its own when absent. */
  agents?: { http: http.Agent; https: https.Agent } | undefined;
}

/** Sends one request, through the proxy that the environment names. Resolves with the head of the answer; no redirect is followed. */
export async function sendRequest(request: HttpRequest): Promise<http.IncomingMessage> {
  const { url, env, signal } = request;
  const proxy = proxyOf(url, env);
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (isSecure ? 443 : 80));
  const path = `${url.pathname}${url.search}`;
  const common = { method: request.method, signal, headers: { host: url.host, ...request.headers } };
  if (proxy === undefined) {
    const agent = isSecure ? request.agents?.https : request.agents?.http;
    const options = {
      ...common,
      host,
      port,
      path,
      agent: agent ?? false,
      ...(request.lookup === undefined ? {} : { lookup: request.lookup }),
    };
    return await finish((isSecure ? loadHttps() : loadHttp()).request(options), request.body);
  }
  if (!isSecure) {
    const headers = { ...common.headers, ...proxyHeaders(proxy) };
    const to = {
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    };
    const options = { ...common, ...to, headers, path: url.href, agent: false };
    return await finish((proxy.protocol === 'https:' ? loadHttps() : loadHttp()).request(options), request.body);
  }
  const tunnel: Duplex = await openTunnel(proxy, `${url.hostname}:${port}`, signal);
  const ca = request.agents?.https.options.ca;
  const agent = new (loadHttps().Agent)();
  agent.createConnection = () =>
    connectTls({ socket: tunnel, servername: host, ALPNProtocols: ['http/1.1'], ...(ca === undefined ? {} : { ca }) });
  return await finish(loadHttps().request({ ...common, host, port, path, agent }), request.body);
}

function finish(outgoing: http.ClientRequest, body: Uint8Array | undefined): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', answer => {
      // Errors after the head reach the reader of the body, who may not be there yet; without a listener they would end the process.
      answer.on('error', () => undefined);
      resolve(answer);
    });
    outgoing.on('error', reject);
    // An abort that meets the end of the answer destroys a connection that belongs to no request any more.
    outgoing.once('socket', socket => {
      if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
    });
    outgoing.end(body);
  });
}

function ignore(): void {}
