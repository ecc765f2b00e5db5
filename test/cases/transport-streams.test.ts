import { fromBinary } from '@bufbuild/protobuf';
import { EnvelopeReader } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { countedIdentity } from '../support/counted-identity.ts';
import { eventually } from '../support/eventually.ts';
import { startHouse } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { APPEND, RUN_SSE, openCall, streamHeaders, unaryHeaders } from '../support/wire.ts';

/** Rows T of docs/decisions/cases.md: what happens while a stream goes down. */

const MEBIBYTE = 1024 * 1024;
/** Ten times what any PING is promised. Real time, a guard only. */
const HANG_MS = 10_000;

/** `BidiRequestId { request_id }` in its envelope. */
function requestBody(requestId: string): Buffer {
  const id = Buffer.from(requestId);
  return Buffer.concat([Buffer.of(0, 0, 0, 0, id.length + 2, 0x0a, id.length), id]);
}

const headersOfStream = { ':method': 'POST', ':path': RUN_SSE, ...streamHeaders() };

function ping(session: http2.ClientHttp2Session): Promise<number> {
  return new Promise((resolve, reject) => {
    session.ping((error, took) => (error ? reject(error) : resolve(took)));
  });
}

describe('a PING', () => {
  it('T06: is acknowledged between the deltas of an answer of eight megabytes, each one while it streams', async () => {
    const house = await startHouse({ transport: 'h2c' });
    const [pieces, size, ahead] = [128, 65_536, 8];
    // the model says a piece only when the client has the one `ahead` of it: nothing runs far ahead of a PING
    house.say({
      events: Array.from({ length: pieces }, (_, piece) => [
        { gate: `piece ${piece}` },
        { text: 'x'.repeat(size) },
      ]).flat(),
    });
    for (let piece = 0; piece < ahead; piece++) house.provider.open(`piece ${piece}`);
    const session = http2.connect(house.server.url, { maxOutstandingPings: pieces });
    const peer = house.peer();
    let [seen, received] = [0, 0];
    /** Characters of the answer that came so far. */
    const count = (): number => {
      for (; seen < peer.frames.length; seen++) {
        const value = peer.frames[seen]!.message?.message.value as {
          message?: { case?: string; value?: { text: string } };
        };
        if (value?.message?.case === 'textDelta') received += value.message.value!.text.length;
      }
      return received;
    };
    await peer.open();
    await peer.run('say much');
    const acks: Promise<{ took: number; after: number }>[] = [];
    for (let piece = 0; piece < pieces; piece++) {
      await peer.until(() => count() >= (piece + 1) * size || undefined, `piece ${piece}`);
      acks.push(ping(session).then(took => ({ took, after: count() })));
      house.provider.open(`piece ${piece + ahead}`);
    }
    await peer.finish();
    for (const [piece, { took, after }] of (await Promise.all(acks)).entries()) {
      expect(took).toBeLessThan(HANG_MS);
      // not only once the stream leaves the server alone
      expect(after, `the PING at piece ${piece}`).toBeLessThanOrEqual((piece + 2 * ahead) * size);
    }
    expect([received, peer.faults]).toEqual([pieces * size, []]);
    session.destroy();
    await house.close();
  });

  it('T06: is acknowledged on a connection whose stream nobody reads', async () => {
    const house = await startHouse({ transport: 'h2c' });
    house.say({ text: Array.from({ length: 64 }, () => 'x'.repeat(65_536)) });
    const session = http2.connect(house.server.url);
    const peer = house.peer();
    const unread = session.request(headersOfStream);
    unread.end(requestBody(peer.requestId));
    await peer.send(peer.runRequest('say much'));
    await eventually(() => house.server.load.runs === 1, 'run');
    for (let count = 0; count < 10; count++) expect(await ping(session)).toBeLessThan(HANG_MS);
    session.destroy();
    await house.close();
  });
});

it('T14: forty seconds of silence of the model are covered by heartbeats, and its text comes after them', async () => {
  const house = await startHouse({ standing: true });
  house.say({ gate: 'thought', text: 'at last' });
  const peer = house.peer();
  await peer.open();
  await peer.run('think hard');
  await house.provider.untilWaiting('thought');
  const before = peer.all('update.heartbeat').length;
  for (let second = 0; second < 40; second += 4) {
    const had = peer.all('update.heartbeat').length;
    await house.clock.pass(4_000);
    await peer.until(() => peer.all('update.heartbeat').length > had || undefined, 'heartbeat');
  }
  expect(peer.all('update.heartbeat').length - before).toBeGreaterThanOrEqual(7);
  expect(peer.end).toBeUndefined();
  house.provider.open('thought');
  await peer.finish();
  expect([peer.fault, peer.text]).toEqual([undefined, 'at last']);
  expect(house.requests).toHaveLength(1);
  await house.close();
});

describe('the bytes of a stream', () => {
  /** Ways to read the body of a POST; each gives every byte to `onBytes` and resolves at the end of the body. */
  const readers: Record<string, (url: string, body: Buffer, onBytes: (bytes: Buffer) => void) => Promise<unknown>> = {
    async 'node:http'(url, body, onBytes) {
      const call = openCall({ url, path: RUN_SSE, headers: streamHeaders(), onData: onBytes });
      call.end(body);
      await call.closed;
    },
    async 'node:http2'(url, body, onBytes) {
      const call = openCall({ url, path: RUN_SSE, transport: 'h2c', headers: streamHeaders(), onData: onBytes });
      call.end(body);
      await call.closed;
    },
    async fetch(url, body, onBytes) {
      const answer = await fetch(new URL(RUN_SSE, url), { method: 'POST', headers: streamHeaders(), body });
      for await (const chunk of answer.body!) onBytes(Buffer.from(chunk as Uint8Array));
    },
    async curl(url, body, onBytes) {
      const headers = Object.entries(streamHeaders()).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const child = spawn('curl', ['-sSN', '--data-binary', '@-', ...headers, String(new URL(RUN_SSE, url))]);
      child.stdout.on('data', onBytes);
      child.stdin.end(body);
      expect(await once(child, 'close')).toEqual([0, null]);
    },
  };

  it('T17: are the same for node:http, node:http2, fetch and curl', async () => {
    const bodies: Record<string, string> = {};
    for (const [name, read] of Object.entries(readers)) {
      const house = await startHouse({ standing: true, identity: countedIdentity() });
      house.say({ text: ['I ', 'look. '], calls: [{ name: 'Read', args: { path: 'a.txt' } }] }, { text: 'done' });
      const peer = house.peer({ requestId: 'request-1', conversationId: 'conversation-1', runId: 'run-1' });
      const envelopes = new EnvelopeReader({ maxBytes: 64 * MEBIBYTE });
      const bytes: Buffer[] = [];
      const reading = read(house.server.url, requestBody('request-1'), chunk => {
        bytes.push(chunk);
        for (const { payload, endStream } of envelopes.push(Uint8Array.from(chunk)))
          if (!endStream) peer.receive(fromBinary(AgentServerMessageSchema, Uint8Array.from(payload)));
      });
      await eventually(() => house.server.load.streams === 1, `stream of ${name}`);
      await peer.run('look');
      await reading;
      expect([peer.text, peer.faults]).toEqual(['I look. done', []]);
      bodies[name] = Buffer.concat(bytes).toString('hex');
      await house.close();
    }
    expect(Object.keys(bodies)).toHaveLength(4);
    expect(new Set(Object.values(bodies)).size).toBe(1);
    expect(bodies['curl']).toMatch(/0200000002 ?7b7d$/);
  });
});

describe('a reset', () => {
  /** A RunSSE for the run of `peer` on a socket of its own; its frames reach the peer, which answers them. */
  type Open = (url: URL, peer: Peer, socket: net.Socket) => void;

  const feed = (peer: Peer) => {
    const envelopes = new EnvelopeReader({ maxBytes: 64 * MEBIBYTE });
    return (chunk: Buffer) => {
      for (const { payload } of envelopes.push(Uint8Array.from(chunk)))
        peer.receive(fromBinary(AgentServerMessageSchema, Uint8Array.from(payload)));
    };
  };

  const openHttp1: Open = (url, peer, socket) => {
    const options = { method: 'POST', headers: streamHeaders(), createConnection: () => socket };
    const request = http.request(new URL(RUN_SSE, url), options, response => {
      response.on('data', feed(peer)).on('error', () => {});
    });
    request.on('error', () => {}).end(requestBody(peer.requestId));
  };

  const openHttp2: Open = (url, peer, socket) => {
    const secured = () => tls.connect({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    const session = http2.connect(url, { createConnection: () => (url.protocol === 'https:' ? secured() : socket) });
    const stream = session.on('error', () => {}).request(headersOfStream);
    stream
      .on('error', () => {})
      .on('data', feed(peer))
      .end(requestBody(peer.requestId));
  };

  /** Of one kind of connection; a hundred of all three. */
  const RESETS = 34;

  async function resetInMidRun(open: Open, secure: boolean): Promise<void> {
    const house = await startHouse({ standing: true, secure });
    house.say(
      ...Array.from({ length: RESETS }, () => ({
        events: [{ text: 'word '.repeat(20_000) }, { hang: true as const }],
      })),
    );
    const url = new URL(house.server.url);
    for (let round = 0; round < RESETS; round++) {
      const peer = house.peer();
      // one that is reset before the server knows what it speaks, and one in the middle of its run
      const [young, socket] = [0, 1].map(() => net.connect(Number(url.port), '127.0.0.1').on('error', () => {}));
      await Promise.all([once(young!, 'connect'), once(socket!, 'connect')]);
      young!.write('P');
      open(url, peer, socket!);
      await peer.run('hold');
      await peer.wait('update.textDelta');
      for (const one of [young!, socket!]) one.resetAndDestroy();
    }
    await house.clock.pass(120_000, 1_000);
    await eventually(() => house.server.load.runs === 0 && house.server.load.streams === 0, 'end of the runs');
    // each was in the middle of its answer, and the model was let go
    const closed = await Promise.all(house.requests.map(request => request.closed));
    expect(closed).toEqual(Array.from({ length: RESETS }, () => ({ early: true })));
    house.say({ text: 'alive' });
    const after = await house.peer().turn('still there?');
    expect([after.fault, after.text]).toEqual([undefined, 'alive']);
    expect(house.server.log.filter(({ level }) => level === 'error')).toEqual([]);
    await house.close();
  }

  it('T22: in mid-run, again and again over HTTP/1.1, costs those runs and never the server', () =>
    resetInMidRun(openHttp1, false));

  it('T22: in mid-run, again and again over HTTP/2, costs those runs and never the server', () =>
    resetInMidRun(openHttp2, false));

  it('T22: in mid-run, again and again over HTTP/2 and TLS, costs those runs and never the server', () =>
    resetInMidRun(openHttp2, true));
});

describe('a message', () => {
  it('T24: of seventeen megabytes is taken', async () => {
    const house = await startHouse();
    house.say({ text: 'read it' });
    const peer = await house.peer().turn('x'.repeat(17 * MEBIBYTE));
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'read it', []]);
    expect(house.requests[0]!.text.length).toBeGreaterThan(17 * MEBIBYTE);
    await house.close();
  });

  it('T24: that is a byte too large is refused with both numbers before all of it came, and its connection serves on', async () => {
    const limit = 65_536;
    const house = await startHouse({ config: { limits: { messageBytes: limit } } });
    for (const transport of ['h1', 'h2c'] as const) {
      const peer = house.peer({ transport });
      const text = 'x'.repeat(limit);
      const answer = await peer.run(text);
      expect(answer.status).toBe(429);
      const { code, message } = JSON.parse(answer.body.toString()) as { code: string; message: string };
      expect(code).toBe('resource_exhausted');
      const [size, named] = [...message.matchAll(/\d{5,}/g)].map(([digits]) => Number(digits));
      expect([named, size! > limit]).toEqual([limit, true]);
    }

    const { port } = new URL(house.server.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    let answered = '';
    socket.on('data', (chunk: Buffer) => (answered += chunk.toString('latin1')));
    const head = Object.entries(unaryHeaders({ host: '127.0.0.1' })).map(([name, value]) => `${name}: ${value}`);
    const post = (length: number) =>
      socket.write([`POST ${APPEND} HTTP/1.1`, ...head, `content-length: ${length}`, '', ''].join('\r\n'));
    const body = Buffer.alloc(300_000, 0x41);
    post(body.length);
    socket.write(body);
    await eventually(() => answered.includes('resource_exhausted'), 'refusal');
    answered = '';
    socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    await eventually(() => answered.includes('"status":"ok"'), 'answer on the same connection');

    // of a body that says to be a gigabyte, the answer comes long before its end
    answered = '';
    let sent = 0;
    post(1_000 * MEBIBYTE);
    socket.on('error', () => {});
    while (!answered.includes('resource_exhausted') && sent < 100 * MEBIBYTE && !socket.destroyed) {
      sent += body.length;
      if (!socket.write(body)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      await new Promise(resolve => setImmediate(resolve));
    }
    await eventually(() => answered.includes('resource_exhausted'), 'refusal of a gigabyte');
    expect(answered).toContain(String(1_000 * MEBIBYTE));
    expect(sent).toBeLessThan(100 * MEBIBYTE);
    socket.destroy();
    await house.close();
  });
});
