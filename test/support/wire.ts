import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';

/** The two HTTP versions of one port (R2); whether it is plain or TLS is the URL's to say. */
export type Transport = 'h1' | 'h2c';
export const transports: readonly Transport[] = ['h1', 'h2c'];

export const APPEND = '/aiserver.v1.BidiService/BidiAppend';
export const RUN_SSE = '/agent.v1.AgentService/RunSSE';
export const RUN = '/agent.v1.AgentService/Run';
export const RUN_POLL = '/agent.v1.AgentService/RunPoll';

/** One call whose two directions stay in the caller's hands. */
export interface Call {
  readonly head: Promise<{ status: number; headers: IncomingHttpHeaders }>;
  /** Resolves when the response is over: whole, or cut by either side. */
  readonly closed: Promise<{ whole: boolean }>;
  write(bytes: Uint8Array): void;
  end(bytes?: Uint8Array): void;
  /** Drops the connection (h1) or the stream (h2c) without a word. */
  destroy(): void;
  /** Stops and goes on reading, as a slow client does. */
  pause(): void;
  resume(): void;
}

export interface CallOptions {
  readonly url: string;
  readonly path: string;
  readonly transport?: Transport;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  onData?(chunk: Buffer): void;
}

const sessions = new Map<string, http2.ClientHttp2Session>();
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
/** Certificates of tests sign themselves. */
const UNCHECKED = { rejectUnauthorized: false } as const;
const secureAgent = new https.Agent({ keepAlive: true, maxSockets: 64, ...UNCHECKED });

/** The HTTP/2 connection that calls to this URL share, opened when there is none or when its server takes nothing new on it. */
export function sessionTo(url: string): http2.ClientHttp2Session {
  const known = sessions.get(url);
  if (known && !known.closed && !known.destroyed) return known;
  const session = http2.connect(url, UNCHECKED);
  session.on('error', () => session.destroy());
  sessions.set(url, session);
  return session;
}

/** Lets go of every connection that calls kept open. */
export function closeConnections(): void {
  for (const session of sessions.values()) session.destroy();
  sessions.clear();
  agent.destroy();
  secureAgent.destroy();
}

export function openCall(options: CallOptions): Call {
  const { url, path, transport = 'h1', method = 'POST', headers = {}, onData } = options;
  let headDone!: (head: { status: number; headers: IncomingHttpHeaders }) => void;
  let headFailed!: (error: Error) => void;
  const head = new Promise<{ status: number; headers: IncomingHttpHeaders }>((resolve, reject) => {
    headDone = resolve;
    headFailed = reject;
  });
  head.catch(() => {});
  let closedDone!: (how: { whole: boolean }) => void;
  const closed = new Promise<{ whole: boolean }>(resolve => (closedDone = resolve));
  const gone = (why: string) => {
    headFailed(new Error(`the call of ${path} ended without a response: ${why}`));
    closedDone({ whole: false });
  };
  if (transport === 'h2c') {
    const stream = sessionTo(url).request({ ':method': method, ':path': path, ...headers }, { endStream: false });
    stream.on('response', ({ ':status': status, ...rest }) =>
      headDone({ status: Number(status), headers: rest as IncomingHttpHeaders }),
    );
    stream.on('data', (chunk: Buffer) => onData?.(chunk));
    stream.on('end', () => closedDone({ whole: true }));
    stream.on('error', error => gone(error.message));
    stream.on('close', () => gone('closed'));
    return {
      head,
      closed,
      write: bytes => void stream.write(bytes),
      end: bytes => void stream.end(bytes),
      destroy: () => stream.close(http2.constants.NGHTTP2_CANCEL),
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
    };
  }
  const isStream = path === RUN_SSE || path === RUN;
  const { hostname, port, protocol } = new URL(url);
  const common = { hostname, port, path, method, headers };
  const request =
    protocol === 'https:'
      ? https.request({ ...common, agent: isStream ? new https.Agent(UNCHECKED) : secureAgent, ...UNCHECKED })
      : http.request({ ...common, agent: isStream ? new http.Agent() : agent });
  let response: http.IncomingMessage | undefined;
  request.on('response', got => {
    response = got;
    headDone({ status: got.statusCode ?? 0, headers: got.headers });
    got.on('data', (chunk: Buffer) => onData?.(chunk));
    got.on('end', () => closedDone({ whole: true }));
    got.on('error', error => gone(error.message));
    got.on('close', () => gone('closed'));
  });
  request.on('error', error => gone(error.message));
  return {
    head,
    closed,
    write: bytes => void request.write(bytes),
    end: bytes => void request.end(bytes),
    destroy: () => void request.destroy(),
    pause: () => void response?.pause(),
    resume: () => void response?.resume(),
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A whole request and its whole answer. */
export async function fetchWhole(options: Omit<CallOptions, 'onData'> & { body?: Uint8Array }): Promise<Answered> {
  const chunks: Buffer[] = [];
  const call = openCall({ ...options, onData: chunk => void chunks.push(chunk) });
  call.end(options.body);
  const { status, headers } = await call.head;
  await call.closed;
  return { status, headers, body: Buffer.concat(chunks) };
}

export const streamHeaders = (extra: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/connect+proto',
  'connect-protocol-version': '1',
  authorization: 'Bearer test-token',
  ...extra,
});

export const unaryHeaders = (extra: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/proto',
  'connect-protocol-version': '1',
  authorization: 'Bearer test-token',
  ...extra,
});
