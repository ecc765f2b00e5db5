import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { ANSWERS } from './provider-answer.ts';
import { checkRequest } from './provider-checks.ts';
import { Issued } from './provider-issued.ts';

/** The wires that providers speak. */
export type WireName = 'messages' | 'responses' | 'gemini' | 'converse' | 'chat';

/** One event as the provider publishes its form; on the converse wire the only key is the name of the event. */
export type WireEvent = Record<string, unknown>;

/** What the fake does with one request: events of a file by their name or as they are, a failure, bytes, or a torn connection. */
export type WireAnswer =
  | string
  | { events: readonly WireEvent[]; then?: 'end' | 'tear' | 'hang' }
  | { status: number; body: unknown; headers?: Record<string, string> }
  | { bytes: string; type?: string };

/** One request that reached the fake. */
export interface WireRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: any;
  /** Settles when the connection of the answer is done: `early` when the caller left before the answer was whole. */
  readonly closed: Promise<{ early: boolean }>;
}

/** A real HTTP server that speaks one wire, and refuses every request that its provider would refuse. */
export interface WireProvider {
  readonly origin: string;
  readonly requests: readonly WireRequest[];
  /** What was refused, and why. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

/** The answers of a wire, by name: `test/answers/wires/WIRE.json`. */
export function readWireAnswers(wire: WireName): Record<string, WireEvent[]> {
  return JSON.parse(readFileSync(new URL(`wires/${wire}.json`, ANSWERS), 'utf8')) as Record<string, WireEvent[]>;
}

/**
 * @param answers in order; the last is given again and again
 * @param options `cut`: bytes a write, so that characters and events come in pieces
 */
export async function startWireProvider(
  wire: WireName,
  answers: readonly WireAnswer[],
  options: { cut?: number; issued?: Issued } = {},
): Promise<WireProvider> {
  const requests: WireRequest[] = [];
  const refusals: string[] = [];
  const issued = options.issued ?? new Issued();
  const files = readWireAnswers(wire);
  let given = 0;

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    const closed = new Promise<{ early: boolean }>(resolve => {
      outgoing.once('close', () => resolve({ early: !outgoing.writableFinished }));
    });
    const request = { path: incoming.url ?? '', headers: incoming.headers, text, body: JSON.parse(text), closed };
    requests.push(request);
    const flaw = checkRequest(wire, request, issued);
    if (flaw !== undefined) {
      refusals.push(flaw);
      outgoing.writeHead(400, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: flaw } }));
      return;
    }
    const next = answers[Math.min(given++, answers.length - 1)] ?? 'text';
    await send(next, request, outgoing);
  };

  const send = async (next: WireAnswer, request: WireRequest, outgoing: ServerResponse) => {
    if (typeof next === 'object' && 'status' in next) {
      outgoing.writeHead(next.status, { 'content-type': 'application/json', ...next.headers });
      outgoing.end(typeof next.body === 'string' ? next.body : JSON.stringify(next.body));
      return;
    }
    if (typeof next === 'object' && 'bytes' in next) {
      outgoing.writeHead(200, { 'content-type': next.type ?? 'text/event-stream' });
      outgoing.end(next.bytes);
      return;
    }
    const events = typeof next === 'string' ? files[next] : next.events;
    if (!events) throw new Error(`test/answers/wires/${wire}.json has no answer ${String(next)}`);
    for (const event of events) issued.note(wire, event);
    const type = wire === 'converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
    outgoing.writeHead(200, { 'content-type': type });
    const bytes = Buffer.concat(events.map(event => encode(wire, event)));
    const size = options.cut ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise<void>(resolve => outgoing.write(bytes.subarray(at, at + size), () => resolve()));
    }
    const then = typeof next === 'string' ? 'end' : (next.then ?? 'end');
    if (then === 'end') outgoing.end(wire === 'chat' ? 'data: [DONE]\n\n' : '');
    else if (then === 'tear') outgoing.socket?.destroy();
  };

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.headersSent) outgoing.writeHead(400);
      outgoing.end(JSON.stringify({ error: { message: `the fake provider failed: ${String(error)}` } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refusals,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function encode(wire: WireName, event: WireEvent): Buffer {
  if (wire === 'converse') return encodeFrame(event);
  const name = typeof event['type'] === 'string' && wire !== 'chat' ? `event: ${event['type']}\n` : '';
  return Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`);
}

/** A frame of AWS: lengths, their checksum, headers, payload, checksum of all. */
function encodeFrame(event: WireEvent): Buffer {
  const [name = '', payload] = Object.entries(event)[0] ?? [];
  const isException = name.endsWith('Exception');
  const headers = Buffer.concat(
    [
      [':message-type', isException ? 'exception' : 'event'],
      [isException ? ':exception-type' : ':event-type', name],
      [':content-type', 'application/json'],
    ].map(([key = '', value = '']) => {
      const head = Buffer.from([key.length, ...Buffer.from(key), 7, value.length >> 8, value.length & 255]);
      return Buffer.concat([head, Buffer.from(value)]);
    }),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const frame = Buffer.alloc(12 + headers.length + body.length + 4);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, 12);
  body.copy(frame, 12 + headers.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.length - 4)), frame.length - 4);
  return frame;
}
