import type { Way } from './peer.ts';
import type { Transport } from './wire.ts';

export interface WayIn {
  readonly name: string;
  readonly transport: Transport;
  readonly way: Way;
  readonly secure: boolean;
}

/** Every way into the server; the same engine stands behind all (R1, R2). */
export const ways: readonly WayIn[] = [
  { name: 'RunSSE over HTTP/1.1', transport: 'h1', way: 'sse', secure: false },
  { name: 'RunSSE over h2c', transport: 'h2c', way: 'sse', secure: false },
  { name: 'RunSSE over TLS and HTTP/1.1', transport: 'h1', way: 'sse', secure: true },
  { name: 'RunSSE over TLS and HTTP/2', transport: 'h2c', way: 'sse', secure: true },
  { name: 'Run over h2c', transport: 'h2c', way: 'run', secure: false },
  { name: 'Run over TLS and HTTP/2', transport: 'h2c', way: 'run', secure: true },
  { name: 'RunPoll over HTTP/1.1', transport: 'h1', way: 'poll', secure: false },
  { name: 'RunPoll over h2c', transport: 'h2c', way: 'poll', secure: false },
  { name: 'RunPoll over TLS and HTTP/1.1', transport: 'h1', way: 'poll', secure: true },
  { name: 'RunPoll over TLS and HTTP/2', transport: 'h2c', way: 'poll', secure: true },
];

/** The ways whose connections carry frames of HTTP/2. */
export const http2Ways = ways.filter(({ transport }) => transport === 'h2c');
