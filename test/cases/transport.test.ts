import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { END_HEADERS, FRAME, PREFACE, headerBlock, http2Frame, readFrames } from '../hostile/http2-frames.ts';
import { eventually } from '../support/eventually.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { PeerOptions } from '../support/peer.ts';
import { startRecorder } from '../support/recorder.ts';
import { APPEND, RUN, RUN_POLL, RUN_SSE, fetchWhole, openCall, streamHeaders, unaryHeaders } from '../support/wire.ts';

/** Rows T of docs/decisions/cases.md: one port, and what a call on it is answered. */
let house: House;
let secure: House;
beforeAll(async () => {
  house = await startHouse();
  secure = await startHouse({ secure: true });
});
afterAll(async () => {
  await house.close();
  await secure.close();
});

const shell = { name: 'Shell', args: { command: 'make test' } };

/** A connection of bytes to the plain port, and what came over it so far. */
function connectRaw() {
  const socket = net.connect(Number(new URL(house.server.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  return { socket, text: () => text, closed: once(socket, 'close') };
}

describe('one port', () => {
  it('T01: clients of both HTTP versions complete their turns at the same time', async () => {
    for (const one of [house, secure]) {
      one.say({ calls: [shell] }, { calls: [shell] }, { text: 'done' }, { text: 'done' });
      const ways: Partial<PeerOptions>[] = [
        { transport: 'h1', way: 'sse' },
        { transport: 'h2c', way: 'run' },
      ];
      const peers = await Promise.all(ways.map(way => one.peer(way).turn('make it')));
      for (const peer of peers) {
        expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
        expect(peer.workspace.done).toEqual(['shell make test']);
      }
    }
  });

  it('T01: a proxy that carries HTTP/1.1 alone is no obstacle', async () => {
    const proxy = await startRecorder(house.server.url);
    house.say({ calls: [shell] }, { text: 'done' });
    const peer = await house.peer({ url: proxy.url }).turn('make it');
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
    await eventually(() => proxy.captures.some(({ path }) => path === RUN_SSE), 'stream that ended at the proxy');
    await proxy.close();
  });

  it('T09: a request of HTTP/1.1 and a preface of HTTP/2 both get a proper answer', async () => {
    const first = connectRaw();
    first.socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n');
    await first.closed;
    expect(first.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"status":"ok"/);

    const second = connectRaw();
    const call = http2Frame(FRAME.headers, END_HEADERS | 1, 1, headerBlock(RUN_SSE, 'application/connect+proto'));
    const bytes = Buffer.concat([PREFACE, http2Frame(FRAME.settings, 0, 0), call]);
    second.socket.setNoDelay(true);
    // the preface byte by byte: the server looks at what it has and waits for the rest
    for (const byte of bytes) second.socket.write(Buffer.of(byte));
    const data = await eventually(
      () => readFrames(second.text()).find(({ type }) => type === FRAME.data),
      'answer over HTTP/2',
    );
    expect(readFrames(second.text())[0]).toMatchObject({ type: FRAME.settings, stream: 0 });
    expect(JSON.parse(data.payload.toString('utf8', 5))).toMatchObject({ error: { code: 'invalid_argument' } });
    second.socket.destroy();
  });

  it('T09: what begins like a preface and is none is answered as a bad request of HTTP/1.1', async () => {
    const raw = connectRaw();
    raw.socket.write('PRI * HTTP/1.7\r\n\r\nXX');
    await raw.closed;
    expect(raw.text()).toMatch(/^HTTP\/1\.1 (400|505) /);
  });
});

describe('an answer', () => {
  it('T04: of a streaming call with a bad key is HTTP 200 and an end frame with unauthenticated', async () => {
    const keys = [{ name: 'ci', sha256: createHash('sha256').update('the key').digest('hex') }];
    const locked = await startHouse({ config: { auth: { keys } } });
    const calls = [RUN_SSE, RUN_POLL, RUN].flatMap(path =>
      (path === RUN ? (['h2c'] as const) : (['h1', 'h2c'] as const)).map(transport => ({ path, transport })),
    );
    for (const { path, transport } of calls) {
      const headers = streamHeaders({ authorization: 'Bearer wrong' });
      const body = Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x61]);
      const answer = await fetchWhole({ url: locked.server.url, path, transport, headers, body });
      expect([answer.status, answer.headers['content-type'], answer.body[0]]).toEqual([
        200,
        'application/connect+proto',
        2,
      ]);
      expect(JSON.parse(answer.body.toString('utf8', 5)).error.code).toBe('unauthenticated');
    }
    await locked.close();
  });

  it('T11: is compressed in no frame, a megabyte of text included, unless the request named a codec for the stream', async () => {
    const text = 'word '.repeat(200_000);
    // gzip for whole bodies is no leave to compress frames
    for (const headers of [undefined, { 'accept-encoding': 'gzip, br' }]) {
      house.say({ text });
      const plain = await house.peer(headers && { headers }).turn('talk');
      expect(plain.text).toBe(text);
      expect(plain.frames.filter(({ flags }) => (flags & 1) !== 0)).toEqual([]);
      expect((await plain.calls[0]!.head).headers).not.toHaveProperty('connect-content-encoding');
    }
    for (const accept of ['gzip', 'br']) {
      house.say({ text: text.slice(0, 400_000) });
      const packed = await house.peer({ accept }).turn('talk');
      expect(packed.text).toBe(text.slice(0, 400_000));
      expect(packed.frames.some(({ compressed }) => compressed)).toBe(true);
      expect((await packed.calls[0]!.head).headers['connect-content-encoding']).toBe(accept);
    }
  });

  it('T12: to a body of noise is our own text, none of its bytes, and the server lives on', async () => {
    for (const size of [1, 7, 64, 1_000, 100_000]) {
      const body = randomBytes(size);
      const append = await fetchWhole({ url: house.server.url, path: APPEND, headers: unaryHeaders(), body });
      expect([append.status, append.headers['content-type']]).toEqual([400, 'application/json']);
      expect(append.body.toString('latin1')).toMatch(/^[\x20-\x7e]+$/);
      expect(JSON.parse(append.body.toString()).code).toBe('invalid_argument');

      const headers = streamHeaders();
      const stream = await fetchWhole({ url: house.server.url, path: RUN_SSE, headers, body });
      expect([stream.status, stream.body[0]]).toEqual([200, 2]);
      const told = stream.body.toString('latin1', 5);
      expect(told).toMatch(/^[\x20-\x7e]+$/);
      expect(JSON.parse(told).error.code).toMatch(/^(invalid_argument|resource_exhausted)$/);
    }
    house.say({ text: 'alive' });
    expect((await house.peer().turn('hello')).text).toBe('alive');
    expect(house.requests).toHaveLength(1);
  });

  it('T16: begins with a head that every proxy passes on at once, before the request is whole', async () => {
    const raw = connectRaw();
    const head = [
      `POST ${RUN_SSE} HTTP/1.1`,
      'host: 127.0.0.1',
      'content-type: application/connect+proto',
      'content-length: 8',
    ];
    raw.socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await eventually(() => raw.text().includes('\r\n\r\n'), 'head');
    const [told] = raw.text().toLowerCase().split('\r\n\r\n');
    expect(told).toMatch(/^http\/1\.1 200 ok\r\n/);
    for (const line of ['cache-control: no-cache', 'x-accel-buffering: no', 'transfer-encoding: chunked'])
      expect(told!.split('\r\n')).toContain(line);
    expect(told).not.toContain('content-length');
    raw.socket.destroy();

    const call = openCall({ url: house.server.url, path: RUN_SSE, transport: 'h2c', headers: streamHeaders() });
    const { headers } = await call.head;
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
    expect(headers).not.toHaveProperty('content-length');
    call.destroy();
  });
});
