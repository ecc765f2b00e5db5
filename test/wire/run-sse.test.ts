import { EnvelopeReader } from '@tandem/protocol';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { RUN_SSE, closeConnections, fetchWhole, openCall, streamHeaders, transports } from '../support/wire.ts';
import type { Transport } from '../support/wire.ts';

const KEY = 'a-key-for-the-wire-tests';

/** `BidiRequestId { request_id: "r…" }` in its envelope, byte by byte. */
function requestBody(requestId: string): Uint8Array {
  const id = Buffer.from(requestId, 'latin1');
  return Buffer.concat([Buffer.from([0, 0, 0, 0, id.length + 2, 0x0a, id.length]), id]);
}

/** A RunSSE whose bytes are kept as they came. */
function openRaw(url: string, transport: Transport, body: Uint8Array, headers: Record<string, string> = {}) {
  const chunks: Buffer[] = [];
  const waiters: (() => void)[] = [];
  const call = openCall({
    url,
    path: RUN_SSE,
    transport,
    headers: streamHeaders(headers),
    onData: chunk => {
      chunks.push(chunk);
      for (const waiter of waiters.splice(0)) waiter();
    },
  });
  call.end(body);
  const bytes = () => Buffer.concat(chunks);
  return {
    call,
    bytes,
    async atLeast(count: number): Promise<Buffer> {
      while (bytes().length < count) await new Promise<void>(resolve => waiters.push(resolve));
      return bytes();
    },
  };
}

describe.each(transports)('RunSSE over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider({
      answers: ({ body }) => {
        const last = JSON.stringify(body.messages.at(-1));
        return last.includes('long') ? { text: 'word '.repeat(40_000) } : { text: ['hello ', 'there'] };
      },
    });
    server = await startTestServer({ provider: provider.baseUrl });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });

  it('[R4-headers-at-once, R4-no-buffering-headers, R3-connect-envelopes] sends its head before anything was appended, made to pass every proxy', async () => {
    const { call } = openRaw(server.url, transport, requestBody(`head-${transport}`));
    const { status, headers } = await call.head;
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/connect+proto');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['content-length']).toBeUndefined();
    expect(headers['content-encoding']).toBeUndefined();
    call.destroy();
  });

  it('[R4-headers-at-once] sends its head even before the request is whole', async () => {
    const call = openCall({ url: server.url, path: RUN_SSE, transport, headers: streamHeaders() });
    call.write(Uint8Array.of(0, 0));
    expect((await call.head).status).toBe(200);
    call.destroy();
  });

  it('[R3-connect-envelopes] begins with the nine bytes of a heartbeat', async () => {
    const { call, atLeast } = openRaw(server.url, transport, requestBody(`beat-${transport}`));
    const bytes = await atLeast(9);
    expect([...bytes]).toEqual([0x00, 0x00, 0x00, 0x00, 0x04, 0x0a, 0x02, 0x6a, 0x00]);
    call.destroy();
  });

  it('[R3-connect-envelopes, §2.3-one-stream-two-calls] ends a good turn with the seven bytes of an empty end frame and the end of the body', async () => {
    const peer = new Peer({ url: server.url, transport, requestId: `good-${transport}` });
    const { call, bytes } = openRaw(server.url, transport, requestBody(peer.requestId));
    await call.head;
    await peer.run('say hello', {
      action: { action: { case: 'userMessageAction', value: { userMessage: { text: 'hi' }, requestContext: {} } } },
    });
    // the acknowledgements of blobs: ids from 1 on, as many as the turn has
    const reader = new EnvelopeReader({ maxBytes: 1 << 26 });
    let seen = 0;
    while (
      !(await Promise.race([
        call.closed.then(() => true),
        new Promise<false>(resolve => setImmediate(() => resolve(false))),
      ]))
    ) {
      const all = bytes();
      for (const envelope of reader.push(all.subarray(seen))) {
        // AgentServerMessage.kv_server_message is field 4; its id is field 1
        if (envelope.payload[0] !== 0x22) continue;
        const id = envelope.payload.indexOf(0x08, 1);
        await peer.send({
          case: 'kvClientMessage',
          value: { id: envelope.payload[id + 1]!, message: { case: 'setBlobResult', value: {} } },
        });
      }
      seen = all.length;
    }
    expect((await call.closed).whole).toBe(true);
    expect([...bytes().subarray(-7)]).toEqual([0x02, 0x00, 0x00, 0x00, 0x02, 0x7b, 0x7d]);
    expect(bytes().includes(Buffer.from('hello '))).toBe(true);
  });

  it('[R1-service-names, R2-h1-and-h2c, §15.2-one-branch-a-frame] completes a whole turn in frames of one branch each', async () => {
    const peer = await new Peer({ url: server.url, transport }).turn('say hello');
    expect(peer.fault).toBeUndefined();
    expect(peer.text).toBe('hello there');
    expect(peer.frames.length).toBeGreaterThan(5);
    for (const frame of peer.frames.slice(0, -1)) expect(frame.key).not.toMatch(/^empty$|unset/);
    expect(peer.frames.at(-1)).toMatchObject({ key: 'end', flags: 2 });
    expect(peer.faults).toEqual([]);
  });

  it('[§15.1-request-is-one-envelope] reads its request however it is cut', async () => {
    const call = openCall({ url: server.url, path: RUN_SSE, transport, headers: streamHeaders() });
    for (const byte of requestBody('in pieces')) {
      call.write(Uint8Array.of(byte));
      await new Promise<void>(resolve => setImmediate(resolve));
    }
    call.end();
    expect((await call.head).status).toBe(200);
    call.destroy();
  });

  it.each([
    ['an empty body', [], 'is empty'],
    ['half a head', [0, 0], '3 of 5 bytes are missing'],
    ['[bad-truncated-envelope] half an envelope', [0, 0, 0, 0, 90, 10, 2], '88 of 90 bytes are missing'],
    ['an empty request_id', [0, 0, 0, 0, 2, 0x0a, 0], 'request_id is empty'],
    ['something that is no BidiRequestId', [0, 0, 0, 0, 2, 0x0a, 0x7f], 'no BidiRequestId'],
    ['two envelopes', [0, 0, 0, 0, 3, 0x0a, 1, 0x61, 0, 0, 0, 0, 3, 0x0a, 1, 0x62], 'more came'],
    ['a reserved flag', [0x80, 0, 0, 0, 1, 0], '0x80'],
    ['a compressed envelope of no known codec', [1, 0, 0, 0, 1, 0], 'connect-content-encoding'],
  ])(
    '[§15.1-request-is-one-envelope] answers %s with an end frame that says so, under HTTP 200',
    async (_, body, text) => {
      const { call, bytes } = openRaw(server.url, transport, Uint8Array.from(body));
      expect((await call.head).status).toBe(200);
      expect((await call.closed).whole).toBe(true);
      const frame = bytes();
      expect(frame[0]).toBe(0x02);
      expect(frame.readUInt32BE(1)).toBe(frame.length - 5);
      const { error } = JSON.parse(frame.toString('utf8', 5));
      expect(error.code).toBe('invalid_argument');
      expect(error.message).toContain(text);
      expect(error.details[0]).toMatchObject({
        type: 'aiserver.v1.ErrorDetails',
        value: expect.stringMatching(/^[A-Za-z0-9+/]+$/),
      });
    },
  );

  it('[bad-oversized-envelope] refuses an envelope of 4 GiB from its head alone, while the request is still open', async () => {
    const chunks: Buffer[] = [];
    const call = openCall({
      url: server.url,
      path: RUN_SSE,
      transport,
      headers: streamHeaders(),
      onData: chunk => void chunks.push(chunk),
    });
    call.write(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xf0, 1, 2, 3));
    expect((await call.head).status).toBe(200);
    expect((await call.closed).whole).toBe(true);
    const { error } = JSON.parse(Buffer.concat(chunks).toString('utf8', 5));
    expect(error.code).toBe('resource_exhausted');
    expect(error.message).toContain('4294967280');
    call.destroy();
  });

  it('[R6-content-type-415, bad-wrong-content-type] answers another content type with 415 and the one it takes', async () => {
    for (const type of ['application/json', 'text/event-stream', 'application/connect+json', 'application/proto', '']) {
      const { status, body } = await fetchWhole({
        url: server.url,
        path: RUN_SSE,
        transport,
        headers: { ...streamHeaders(), 'content-type': type },
        body: requestBody('r'),
      });
      expect(status).toBe(415);
      expect(JSON.parse(body.toString()).message).toContain('application/connect+proto');
    }
  });

  it('[R5-plain-unless-asked] compresses nothing for a client that named no codec', async () => {
    const peer = await new Peer({ url: server.url, transport }).turn('say something long');
    expect(peer.text).toHaveLength(200_000);
    expect(peer.frames.some(frame => frame.bytes > 50_000)).toBe(true);
    expect(peer.frames.filter(frame => frame.compressed)).toEqual([]);
  });

  it('[R5-gzip-when-asked] compresses large frames for a client that named gzip, and says so in the head', async () => {
    const peer = new Peer({ url: server.url, transport, accept: 'gzip' });
    const { headers } = await peer.open();
    expect(headers['connect-content-encoding']).toBe('gzip');
    expect(headers['content-encoding']).toBeUndefined();
    await peer.run('say something long');
    await peer.finish();
    expect(peer.text).toHaveLength(200_000);
    expect(peer.frames.filter(frame => frame.compressed).length).toBeGreaterThan(0);
    expect(peer.all('update.heartbeat').every(frame => !frame.compressed)).toBe(true);
    expect(peer.faults).toEqual([]);
  });
});

describe('RunSSE of a server with keys', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      config: { auth: { keys: [{ name: 'ci', sha256: createHash('sha256').update(KEY).digest('hex') }] } },
    });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
  });

  it.each(transports)('[R6-always-200] tells a bad key over %s in an end frame, never by a status', async transport => {
    for (const authorization of ['Bearer wrong', 'Basic abc', '']) {
      const { call, bytes } = openRaw(server.url, transport, requestBody('r'), { authorization });
      expect((await call.head).status).toBe(200);
      await call.closed;
      const { error } = JSON.parse(bytes().toString('utf8', 5));
      expect(error.code).toBe('unauthenticated');
      expect(JSON.stringify(error)).not.toContain('wrong');
    }
  });

  it('[R9-bearer] serves a request with a known key and refuses an append with another', async () => {
    const peer = await new Peer({ url: server.url, headers: { authorization: `Bearer ${KEY}` }, model: '' }).turn(
      'look around',
    );
    expect(peer.fault).toBeUndefined();
    const stranger = new Peer({ url: server.url, headers: { authorization: 'Bearer other' } });
    const { status, body } = await stranger.heartbeat();
    expect(status).toBe(401);
    expect(JSON.parse(body.toString()).code).toBe('unauthenticated');
  });
});
