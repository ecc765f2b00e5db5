import { once } from 'node:events';
import http2 from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { TransportAnswer, TransportRequest } from '../transport.ts';

/**
 * Memory that a connection may take before it turns new streams away, in MB: what goes up counts, and one message may be larger than Node's 10.
 * What is held is bound by the requests of this process.
 */
const SESSION_MEMORY = 4096;

/** A session without a stream is let go after this long. */
const IDLE = 30_000;

interface Session {
  session: ClientHttp2Session;
  streams: number;
  timer: NodeJS.Timeout | undefined;
}

/** HTTP/2 connections by origin, shared by all requests to it. Idle ones keep no process alive. */
export class Http2Sessions {
  private readonly tls: { ca?: string | Buffer };
  private readonly byOrigin = new Map<string, Promise<Session | undefined>>();

  constructor(tls: { ca?: string | Buffer }) {
    this.tls = tls;
  }

  /** A connection to the origin of `url`; undefined when the server speaks only HTTP/1.1. Rejects when it cannot be reached. */
  async open(url: URL, signal: AbortSignal): Promise<Session | undefined> {
    signal.throwIfAborted();
    let opening = this.byOrigin.get(url.origin);
    if (opening === undefined) {
      opening = this.connect(url);
      this.byOrigin.set(url.origin, opening);
      // A failure is told to those who wait; the next request tries anew.
      opening.catch(() => this.byOrigin.delete(url.origin));
    }
    const aborted = once(signal, 'abort').then(() => signal.throwIfAborted());
    // The wait for an abort that never comes is nobody's failure.
    aborted.catch(() => undefined);
    const session = await Promise.race([opening, aborted as Promise<undefined>]);
    if (session === undefined || !(session.session.closed || session.session.destroyed)) return session;
    this.byOrigin.delete(url.origin);
    return await this.open(url, signal);
  }

  async exchange(url: URL, request: TransportRequest): Promise<TransportAnswer> {
    const session = await this.open(url, request.signal);
    if (session === undefined) throw new Error(`${url.host} does not speak HTTP/2`);
    this.use(session);
    const stream = session.session.request(
      { ':method': request.method, ':path': `${url.pathname}${url.search}`, ...request.headers },
      { signal: request.signal, endStream: request.body === undefined },
    );
    stream.once('close', () => this.release(session));
    // Told by whoever waits for the head or reads the body.
    stream.on('error', () => undefined);
    if (request.body !== undefined) void pump(stream, request.body);
    const head = await new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
      stream.once('response', resolve);
      stream.once('error', reject);
      stream.once('close', () => reject(new Error(`${url.host} closed the stream without an answer`)));
    });
    return {
      status: Number(head[':status'] ?? 0),
      header: name => [head[name] ?? []].flat().join(', ') || undefined,
      body: stream,
    };
  }

  close(): void {
    for (const opening of this.byOrigin.values()) {
      void opening.then(
        session => session?.session.destroy(),
        () => undefined, // it was never open
      );
    }
    this.byOrigin.clear();
  }

  private async connect(url: URL): Promise<Session | undefined> {
    const session =
      url.protocol === 'http:'
        ? http2.connect(url.origin, { maxSessionMemory: SESSION_MEMORY })
        : await connectSecurely(url, this.tls);
    if (session === undefined) return undefined;
    // Without a listener an error of the connection would end the process; each stream tells its own.
    session.on('error', () => this.byOrigin.delete(url.origin));
    session.on('goaway', () => this.byOrigin.delete(url.origin));
    session.on('close', () => this.byOrigin.delete(url.origin));
    await new Promise<void>((resolve, reject) => {
      if (!session.connecting) return resolve();
      session.once('connect', () => resolve());
      session.once('error', reject);
    });
    return { session, streams: 0, timer: undefined };
  }

  private use(session: Session): void {
    session.streams++;
    clearTimeout(session.timer);
    session.session.ref();
  }

  private release(session: Session): void {
    if (--session.streams > 0) return;
    session.session.unref();
    session.timer = setTimeout(() => session.session.close(), IDLE);
    session.timer.unref();
  }
}

async function connectSecurely(url: URL, tls: { ca?: string | Buffer }): Promise<ClientHttp2Session | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const socket: TLSSocket = connectTls({
    host,
    port: Number(url.port || 443),
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    ALPNProtocols: ['h2', 'http/1.1'],
    ...tls,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  if (socket.alpnProtocol === 'h2')
    return http2.connect(url.origin, { createConnection: () => socket, maxSessionMemory: SESSION_MEMORY });
  socket.destroy();
  return undefined;
}

/** Writes a body as fast as the connection takes it. A stream that broke ends it; its answer tells why. */
async function pump(stream: ClientHttp2Stream, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  if (body instanceof Uint8Array) {
    stream.end(body);
    return;
  }
  try {
    for await (const chunk of body) {
      if (stream.destroyed || stream.closed) return;
      if (!stream.write(chunk)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
    }
    stream.end();
  } catch {
    stream.close(http2.constants.NGHTTP2_CANCEL);
  }
}
