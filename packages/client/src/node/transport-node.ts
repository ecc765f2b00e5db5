import type http from 'node:http';
import type https from 'node:https';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { Decompress, Transport, TransportAnswer, TransportRequest } from '../transport.ts';
import { loadHttp, loadHttps } from './builtin-http.ts';
import { proxyOf } from './proxy.ts';
import type { Http2Sessions } from './http2-sessions.ts';

/** When HTTP/2, and with it `Run`, is used. */
export interface NodeTransportOptions {
  /**
   * `auto` takes HTTP/2 where a server offers it over TLS; `always` also without TLS, which needs a server that is known to speak it; `never`
   * keeps to HTTP/1.1. A connection through a proxy is always HTTP/1.1, since many cannot carry the other.
   */
  http2?: 'auto' | 'always' | 'never';
  /** Where proxies are named (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`); this process's environment when absent. */
  env?: NodeJS.ProcessEnv;
  /** More certificate authorities to trust, as PEM. */
  ca?: string | Buffer;
}

/** A connection without a request is let go after this long, in milliseconds: before a server does, which would cost the request that it meets. */
const IDLE = 4_000;

/** The transport of Node: HTTP/1.1 and HTTP/2, through the proxies that the environment names; loopback is always reached directly. */
export function nodeTransport(options: NodeTransportOptions = {}): Transport & { close(): void } {
  const env = options.env ?? process.env;
  const mode = options.http2 ?? 'auto';
  const tls = options.ca === undefined ? {} : { ca: options.ca };
  // Each is loaded with its first use: what is not needed would only delay the start of a command.
  const agents = makeAgents(tls);
  let opened: Promise<Http2Sessions> | undefined;
  const sessions = () => (opened ??= import('./http2-sessions.ts').then(loaded => new loaded.Http2Sessions(tls)));
  const usesHttp2 = async (url: URL, signal: AbortSignal): Promise<boolean> => {
    if (mode === 'never' || proxyOf(url, env) !== undefined) return false;
    if (url.protocol === 'http:') return mode === 'always';
    return (await (await sessions()).open(url, signal)) !== undefined;
  };
  return {
    duplex: (baseUrl, signal) => usesHttp2(new URL(baseUrl), signal),
    codecs: CODECS,
    async exchange(request): Promise<TransportAnswer> {
      const url = new URL(request.url);
      if (await usesHttp2(url, request.signal)) return await (await sessions()).exchange(url, request);
      return await exchangeOverHttp1(url, request, env, agents);
    },
    close() {
      agents.destroy();
      void opened?.then(made => made.close());
    },
  };
}

interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

/** Each is made with its first use. */
function makeAgents(tls: { ca?: string | Buffer }): Agents & { destroy(): void } {
  let plain: http.Agent | undefined;
  let secure: https.Agent | undefined;
  return {
    get http() {
      return (plain ??= new (loadHttp().Agent)({ keepAlive: true, timeout: IDLE }));
    },
    get https() {
      return (secure ??= new (loadHttps().Agent)({ keepAlive: true, timeout: IDLE, ...tls }));
    },
    destroy() {
      plain?.destroy();
      secure?.destroy();
    },
  };
}

async function exchangeOverHttp1(
  url: URL,
  request: TransportRequest,
  env: NodeJS.ProcessEnv,
  agents: Agents,
): Promise<TransportAnswer> {
  if (request.body !== undefined && !(request.body instanceof Uint8Array))
    throw new TypeError('HTTP/1.1 sends whole bodies only');
  const { sendRequest } = await import('./http-request.ts');
  const { method, headers, body, signal } = request;
  const answer = await sendRequest({ url, method, headers, body, signal, env, agents });
  return {
    status: answer.statusCode ?? 0,
    header: name => [answer.headers[name] ?? []].flat().join(', ') || undefined,
    body: answer,
  };
}

const CODECS: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ['gzip', (data, maxOutputLength) => promisify(gunzip)(data, { maxOutputLength })],
  ['br', (data, maxOutputLength) => promisify(brotliDecompress)(data, { maxOutputLength })],
]);
