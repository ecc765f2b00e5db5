import { encodeAppend } from '@tandem/protocol';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import {
  APPEND,
  RUN,
  RUN_SSE,
  closeConnections,
  openCall,
  streamHeaders,
  transports,
  unaryHeaders,
} from '../support/wire.ts';
import { FRAME, PREFACE, http2Frame } from './http2-frames.ts';
import { rawRequest, startSiege } from './siege.ts';
import type { Siege } from './siege.ts';

const CONNECTIONS = 300;
const HEARTBEAT = Uint8Array.of(0x3a, 0x00);
const append = encodeAppend({ requestId: 'slow', seqno: 0, bytes: HEARTBEAT });

describe('hundreds of connections that hang', () => {
  let siege: Siege;
  beforeAll(async () => {
    siege = await startSiege();
  });
  afterAll(() => siege.close());
  afterEach(() => siege.expectWell());

  it.each([
    ['before the first byte', Buffer.alloc(0)],
    ['inside the preface of HTTP/2', PREFACE.subarray(0, 9)],
    ['behind the preface of HTTP/2', PREFACE],
    ['inside a frame of HTTP/2', Buffer.concat([PREFACE, http2Frame(FRAME.settings, 0, 0), Buffer.of(0, 0x40, 0, 1)])],
    ['inside a head', Buffer.from('POST /x HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ')],
    ['inside the body of an append', rawRequest(APPEND, 'application/proto', append).subarray(0, -3)],
    [
      'inside an envelope of RunSSE',
      rawRequest(RUN_SSE, 'application/connect+proto', Buffer.of(0, 0, 0, 0, 9, 10, 7)).subarray(0, -2),
    ],
    [
      'inside an envelope of Run',
      rawRequest(RUN, 'application/connect+proto', Buffer.of(0, 0, 0, 0, 99, 10, 7)).subarray(0, -2),
    ],
  ])('%s hold up nobody', async (_, bytes) => {
    const raw = await Promise.all(Array.from({ length: CONNECTIONS }, () => siege.connect()));
    for (const { socket } of raw) socket.write(bytes);
    await siege.expectWell();
    await Promise.all(raw.map(({ closed }) => closed));
  });

  it('and send one byte at a time hold up nobody', async () => {
    const body = rawRequest(APPEND, 'application/proto', append);
    const raw = await Promise.all(Array.from({ length: 20 }, () => siege.connect()));
    for (const byte of body) {
      await Promise.all(
        raw.map(({ socket }) => new Promise<void>(resolve => socket.write(Buffer.of(byte), () => resolve()))),
      );
    }
    await eventually(() => raw.every(({ text }) => text().startsWith('HTTP/1.1 200 ')), 'answer to every drip');
  });

  it('with half of their direction closed are let go', async () => {
    const begun = rawRequest(APPEND, 'application/proto', append).subarray(0, -3);
    const raw = await Promise.all(Array.from({ length: CONNECTIONS }, () => siege.connect({ allowHalfOpen: true })));
    for (const { socket } of raw) socket.end(begun);
    await Promise.all(raw.map(async ({ socket }) => (socket.readableEnded ? undefined : once(socket, 'end'))));
  });
});

describe.each(transports)('a request that never ends, over %s', transport => {
  let server: TestServer;
  const clock = new ManualClock();
  beforeAll(async () => {
    server = await startTestServer({ clock });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
  });

  it('of BidiAppend is answered with deadline_exceeded after two minutes, however it drips', async () => {
    let body = '';
    const headers = unaryHeaders({ 'content-length': String(append.length) });
    const call = openCall({
      url: server.url,
      path: APPEND,
      transport,
      headers,
      onData: chunk => (body += chunk.toString()),
    });
    call.write(append.subarray(0, 3));
    await clock.untilTimer(120_000);
    await clock.pass(119_000, 10_000);
    call.write(append.subarray(3, 4));
    await clock.pass(1_000);
    expect((await call.head).status).toBe(504);
    await eventually(() => body.includes('"deadline_exceeded"'), 'reason');
    call.destroy();
  });

  it('of RunSSE gets an end frame with deadline_exceeded after thirty seconds', async () => {
    let body = '';
    const call = openCall({
      url: server.url,
      path: RUN_SSE,
      transport,
      headers: streamHeaders(),
      onData: chunk => (body += chunk.toString()),
    });
    call.write(Uint8Array.of(0, 0, 0, 0, 9, 10));
    expect((await call.head).status).toBe(200);
    await clock.untilTimer(30_000);
    await clock.pass(30_000, 5_000);
    await eventually(() => body.includes('"deadline_exceeded"'), 'end frame');
    call.destroy();
  });

  it('of Run ends with the time of a stream that nobody gives a run request', async () => {
    let body = '';
    const call = openCall({
      url: server.url,
      path: RUN,
      transport,
      headers: streamHeaders(),
      onData: chunk => (body += chunk.toString('latin1')),
    });
    call.write(Uint8Array.of(0, 0, 0, 0, 99, 10));
    await call.head;
    await eventually(() => body.length >= 9, 'first heartbeat');
    await clock.pass(30_000, 1_000);
    await eventually(() => body.includes('No run request arrived'), 'end frame');
    call.destroy();
    await clock.pass(120_000, 5_000);
    expect(server.load).toEqual({ streams: 0, runs: 0 });
  });
});
