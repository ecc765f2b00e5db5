import type http from 'node:http';
import type http2 from 'node:http2';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { CONNECTION_SILENCE_MS, DOWNLINK_MAX_BYTES } from '../limits.ts';

/**
 * The modules of both versions, taken without an import: an import reads every export, and one of `node:http` is a getter that loads all of
 * `fetch`, which takes as long as Node itself to start. HTTP/2 is loaded with the first connection that speaks it.
 */
const { createServer: createHttpServer } = process.getBuiltinModule('node:http');
const loadHttp2 = () => process.getBuiltinModule('node:http2');

/**
 * A request and its response, whichever of the two HTTP versions carries them. Those of HTTP/2 have all that is used here, but
 * declarations that do not overlap; so both go by the names of HTTP/1.1.
 */
export type Request = http.IncomingMessage;
export type Response = http.ServerResponse;
export type Handler = (request: Request, response: Response) => void;

export interface Listener {
  /** `http://host:port` with the port that was taken. */
  readonly url: string;
  readonly port: number;
  /** Tells the HTTP/2 clients by GOAWAY to send what is new on new connections; what runs goes on. Connections are still taken. */
  retire(): void;
  /** Takes no new connections and lets idle ones go; resolves when all are gone. */
  close(): Promise<void>;
  /** Cuts every connection. */
  destroy(): void;
}

/** A certificate chain and its key, as PEM. */
export interface TlsMaterial {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** The times that a server of Node has for connections of HTTP/1.1, in milliseconds. */
interface Http1Times {
  /** How long one is kept between two requests: longer than clients and the proxies before us keep theirs. */
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
}

/** What a connection is told that could not be read on, by the code of the error. */
const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** How an HTTP/2 client starts (R2). */
const PREFACE = Buffer.from('PRI * HTTP/2.0');

/**
 * Opens a port for both HTTP versions. A plain one takes HTTP/1.1 and HTTP/2 with prior knowledge, the first bytes of a connection
 * tell which (R2, T09); one with TLS negotiates by ALPN.
 */
export async function listen(options: {
  host: string;
  port: number;
  tls?: TlsMaterial | undefined;
  handler: Handler;
  onError: (error: Error) => void;
  /** How long the head of a request may take. */
  silenceMs?: number;
}): Promise<Listener> {
  const { handler, onError, tls, silenceMs = CONNECTION_SILENCE_MS } = options;
  // bodies have deadlines of their own (body-chunks.ts): the server's would cut a Run that lasts
  const http1Times = {
    keepAliveTimeout: 65_000,
    headersTimeout: silenceMs,
    requestTimeout: 0,
    connectionsCheckingInterval: Math.ceil(silenceMs / 4),
  };
  const http1 = createHttpServer({ ...http1Times, noDelay: true }, handler);
  // it gets its connections from here and never listens, and only a server that listens looks at the times of its heads
  http1.emit('listening');
  http1.on('clientError', (error, socket) => {
    const status = CLIENT_ERRORS[(error as NodeJS.ErrnoException).code ?? ''] ?? '400 Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    else socket.destroy();
  });
  const sessions = new Set<http2.ServerHttp2Session>();
  let h2c: http2.Http2Server | undefined;
  const plainHttp2 = () => {
    if (!h2c) {
      h2c = loadHttp2().createServer(H2_OPTIONS, handler as never);
      tendSessions(h2c, sessions);
    }
    return h2c;
  };

  const sockets = new Set<net.Socket>();
  const server = tls
    ? secureServer(tls, handler, { sockets, sessions }, http1Times)
    : net.createServer(socket => {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => sockets.delete(socket));
        socket.setNoDelay(true);
        socket.setTimeout(silenceMs, () => socket.destroy());
        let seen: Buffer = Buffer.alloc(0);
        const look = (chunk: Buffer) => {
          seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
          const isPreface = PREFACE.subarray(0, seen.length).equals(seen.subarray(0, PREFACE.length));
          if (isPreface && seen.length < PREFACE.length) return; // could be either
          socket.off('data', look);
          socket.pause();
          socket.setTimeout(0);
          socket.removeAllListeners('timeout');
          socket.unshift(seen);
          seen = PREFACE; // the socket has it now; this closure lives as long as the connection
          (isPreface ? plainHttp2() : http1).emit('connection', socket);
          if (!isPreface) socket.resume();
        };
        socket.on('data', look);
      });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', onError);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `${tls ? 'https' : 'http'}://${host}:${port}`,
    port,
    retire() {
      for (const session of sessions) session.close();
    },
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      http1.close();
      for (const session of sessions) session.close();
      await closed;
    },
    destroy() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * A stream at a time gets a whole window: the default of 64 KiB makes a large append wait for round trips. A session may hold what
 * streams keep for their readers (R19): at the default of 10 MB, a large blob on its way down makes every new append be refused.
 */
const H2_OPTIONS = {
  settings: { initialWindowSize: 1024 * 1024, maxConcurrentStreams: 1_000 },
  maxSessionMemory: (2 * DOWNLINK_MAX_BYTES) / 1_000_000,
};

function tendSessions(
  server: http2.Http2Server | http2.Http2SecureServer,
  sessions: Set<http2.ServerHttp2Session>,
): void {
  server.on('session', session => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => session.destroy()); // a broken peer costs its own connection (T22)
    session.setLocalWindowSize(16 * 1024 * 1024);
  });
  server.on('sessionError', () => {});
}

function secureServer(
  tls: TlsMaterial,
  handler: Handler,
  { sockets, sessions }: { sockets: Set<net.Socket>; sessions: Set<http2.ServerHttp2Session> },
  http1Times: Http1Times,
): http2.Http2SecureServer {
  const handshakeTimeout = http1Times.headersTimeout;
  const options = {
    ...tls,
    ...H2_OPTIONS,
    ...http1Times,
    allowHTTP1: true,
    minVersion: 'TLSv1.2',
    handshakeTimeout,
  } as const;
  const server = loadHttp2().createSecureServer(options, handler as never);
  tendSessions(server, sessions);
  server.on('tlsClientError', () => {}); // a peer that cannot talk TLS is its own trouble
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  return server;
}
