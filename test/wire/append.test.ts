import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import http2 from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../packages/server/src/store/sqlite/store.ts';
import { systemClock } from '@tandem/server';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { APPEND, closeConnections, fetchWhole, transports, unaryHeaders } from '../support/wire.ts';

const LIMIT = 64 * 1024;
const READ: Answer = { calls: [{ name: 'Read', args: { path: 'a.txt' } }] };

/** A BidiAppendRequest, byte by byte: `data` (1), `request_id` (2) with the id in a message, `append_seqno` (3), `data_binary` (4). */
function appendBody(fields: { data?: string; id?: string; seqno?: number; binary?: Uint8Array }): Buffer {
  const { data = '', id = randomUUID(), seqno = 0, binary } = fields;
  return Buffer.concat([
    data === '' ? Buffer.alloc(0) : Buffer.from([0x0a, data.length]),
    Buffer.from(data, 'latin1'),
    Buffer.from([0x12, id.length + 2, 0x0a, id.length]),
    Buffer.from(id, 'latin1'),
    seqno === 0 ? Buffer.alloc(0) : Buffer.from([0x18, seqno]),
    binary ? Buffer.concat([Buffer.from([0x22, binary.length]), binary]) : Buffer.alloc(0),
  ]);
}

/** `client_heartbeat {}`, field 7. */
const HEARTBEAT = '3a00';

describe.each(transports)('BidiAppend over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  let answers: Answer[];
  beforeAll(async () => {
    provider = await startProvider({ answers: () => answers.shift() ?? { text: 'done' } });
    server = await startTestServer({ provider: provider.baseUrl, config: { limits: { messageBytes: LIMIT } } });
    answers = [];
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const post = (body: Uint8Array, headers: Record<string, string> = {}) =>
    fetchWhole({ url: server.url, path: APPEND, transport, headers: unaryHeaders(headers), body });

  it('[R7-ack-shape, R7-ack-unknown, R1-service-names] acknowledges an append to a request nobody opened with an empty application/proto', async () => {
    const { status, headers, body } = await post(appendBody({ data: HEARTBEAT, seqno: 5 }));
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/proto');
    expect(headers['content-length']).toBe('0');
    expect(body).toHaveLength(0);
  });

  it('takes hex of either case, bytes, and both when they are equal (R7)', async () => {
    const binary = Uint8Array.of(0x3a, 0x00);
    for (const fields of [{ data: '3A00' }, { binary }, { data: HEARTBEAT, binary }])
      expect((await post(appendBody(fields))).status).toBe(200);
  });

  it('[R7-ack-heartbeat, R7-ack-finished] acknowledges heartbeats, late results and a late cancel after the end, and nothing comes of them', async () => {
    const peer = new Peer({ url: server.url, transport });
    await peer.open();
    expect((await peer.heartbeat()).status).toBe(200);
    await peer.run('say something');
    expect((await peer.heartbeat()).status).toBe(200);
    await peer.finish();
    const [frames, requests] = [peer.frames.length, provider.requests.length];
    const late = [
      await peer.heartbeat(),
      await peer.send({ case: 'execClientMessage', value: { id: 1, message: { case: 'readResult', value: {} } } }),
      await peer.send({ case: 'kvClientMessage', value: { id: 1, message: { case: 'setBlobResult', value: {} } } }),
      await peer.cancel(),
      await peer.send(peer.runRequest('say something'), { seqno: 0 }),
    ];
    expect(late.map(one => [one.status, one.body.length])).toEqual([
      [200, 0],
      [200, 0],
      [200, 0],
      [200, 0],
      [200, 0],
    ]);
    expect([peer.frames.length, provider.requests.length]).toEqual([frames, requests]);
  });

  it('[R7-ack-before-work, §2.2-ack-is-not-the-end] acknowledges the run request while the model has not said a word', async () => {
    answers = [{ gate: `slow-${transport}`, text: 'at last' }];
    const peer = new Peer({ url: server.url, transport });
    await peer.open();
    expect((await peer.run('wait')).status).toBe(200);
    await provider.untilWaiting(`slow-${transport}`);
    expect(peer.end).toBeUndefined();
    expect(peer.text).toBe('');
    provider.open(`slow-${transport}`);
    await peer.finish();
    expect(peer.text).toBe('at last');
  });

  it('[§2.1-seqno-per-request] counts the appends of two requests apart', async () => {
    const peers = [new Peer({ url: server.url, transport }), new Peer({ url: server.url, transport })];
    await Promise.all(peers.map(peer => peer.open()));
    await peers[0]!.heartbeat();
    await peers[0]!.heartbeat();
    await peers[0]!.run('one');
    await peers[1]!.run('two');
    await Promise.all(peers.map(peer => peer.finish()));
    expect(
      peers.map(peer => [peer.sent.find(({ message }) => message?.case === 'runRequest')!.seqno, peer.text]),
    ).toEqual([
      [2, 'done'],
      [0, 'done'],
    ]);
  });

  it.each([
    ['[bad-odd-hex] hex of odd length', appendBody({ data: '3a0' }), '3 hex digits, an odd number'],
    ['[bad-odd-hex] a foreign character', appendBody({ data: '3a0z' }), 'byte 0x7a at position 3'],
    ['hex with a prefix', appendBody({ data: '0x3a00' }), 'position 1'],
    [
      '[bad-two-payloads] two payloads that differ',
      appendBody({ data: HEARTBEAT, binary: Uint8Array.of(0x3a, 0x01, 0x00) }),
      'data (2 bytes decoded) and data_binary (3 bytes) differ from byte 1',
    ],
    ['no payload at all', appendBody({}), 'Neither data nor data_binary'],
    ['an empty body', Buffer.alloc(0), 'request_id is empty'],
    ['hex that is no message', appendBody({ data: 'ffff' }), 'not an agent.v1.AgentClientMessage'],
    [
      '[bad-random-bytes] random bytes',
      Buffer.concat([Buffer.from([0xff, 0xff]), randomBytes(300)]),
      'is not a BidiAppendRequest',
    ],
  ])('refuses %s as invalid_argument in our own words', async (_, body, text) => {
    const { status, headers, body: answer } = await post(body);
    expect(status).toBe(400);
    expect(headers['content-type']).toBe('application/json');
    const { code, message, details } = JSON.parse(answer.toString());
    expect(code).toBe('invalid_argument');
    expect(message).toContain(text);
    expect(message).toMatch(/^[\x20-\x7e]+$/);
    expect(details[0].type).toBe('aiserver.v1.ErrorDetails');
    expect((await post(appendBody({ data: HEARTBEAT }))).status).toBe(200);
  });

  it('[bad-wrong-content-type] answers another content type with 415 and the one it takes', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json',
      'application/connect+proto',
    ]) {
      const { status, body } = await post(appendBody({ data: HEARTBEAT }), { 'content-type': type });
      expect(status).toBe(415);
      expect(JSON.parse(body.toString()).message).toContain('application/proto');
    }
  });

  it('[R5-unary-accept-encoding] compresses no answer of a client that named no codec', async () => {
    for (const body of [appendBody({ data: HEARTBEAT }), appendBody({ data: 'zz' })]) {
      const { headers } = await post(body);
      expect(headers['content-encoding']).toBeUndefined();
    }
    const models = await fetchWhole({
      url: server.url,
      path: '/v1/models',
      method: 'GET',
      transport,
      headers: unaryHeaders(),
    });
    expect(models.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(models.body.toString()).items.length).toBeGreaterThan(0);
  });

  it('[R8-limit-configurable] takes a message of exactly the configured limit and refuses one byte more', async () => {
    const message = (bytes: number) => {
      const text = 'x'.repeat(bytes - 8);
      // prewarm_request (8) { custom_system_prompt (9) }: two tags, each with a length of three bytes
      return Buffer.concat([Buffer.from([0x42, ...varint(bytes - 4), 0x4a, ...varint(bytes - 8)]), Buffer.from(text)]);
    };
    const body = (bytes: number) => {
      const binary = message(bytes);
      expect(binary).toHaveLength(bytes);
      return Buffer.concat([appendBody({}), Buffer.from([0x22, ...varint(bytes)]), binary]);
    };
    expect((await post(body(LIMIT))).status).toBe(200);
    const { status, body: answer } = await post(body(LIMIT + 1));
    expect(status).toBe(429);
    const { code, message: text } = JSON.parse(answer.toString());
    expect(code).toBe('resource_exhausted');
    expect(text).toContain('65537 bytes');
    expect(text).toContain('65536 bytes');
  });
});

/** A number of three bytes as a varint. */
function varint(value: number): number[] {
  return [(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, value >> 14];
}

describe('a refused message', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ config: { limits: { messageBytes: LIMIT } } });
  });
  afterAll(() => server.close());

  const sizes = [LIMIT + 1, 4 * LIMIT, 40 * LIMIT];
  const noise = (bytes: number) =>
    Buffer.concat([appendBody({}), Buffer.from([0x22, ...varint(bytes)]), Buffer.alloc(bytes, 1)]);

  it('[R8-connection-stays, R8-limit-named] leaves its HTTP/1.1 connection usable, however large it was', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const { hostname, port } = new URL(server.url);
    const post = (body: Uint8Array) =>
      new Promise<{ status: number; text: string; reused: boolean }>((resolve, reject) => {
        const request = http.request(
          { hostname, port, path: APPEND, method: 'POST', headers: unaryHeaders(), agent },
          response => {
            const chunks: Buffer[] = [];
            response.on('data', chunk => chunks.push(chunk));
            response.on('end', () =>
              resolve({
                status: response.statusCode!,
                text: Buffer.concat(chunks).toString(),
                reused: request.reusedSocket,
              }),
            );
          },
        );
        request.on('error', reject);
        request.end(body);
      });
    for (const size of sizes) {
      const { status, text } = await post(noise(size));
      expect(status).toBe(429);
      expect(JSON.parse(text).message).toMatch(/\b(65536|262144)\b/);
      const next = await post(appendBody({ data: HEARTBEAT }));
      expect([next.status, next.reused]).toEqual([200, true]);
    }
    agent.destroy();
  });

  it('[R8-connection-stays] leaves its HTTP/2 connection usable, however large it was', async () => {
    const session = http2.connect(server.url);
    const post = (body: Uint8Array) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const stream = session.request({ ':method': 'POST', ':path': APPEND, ...unaryHeaders() });
        let status = 0;
        const chunks: Buffer[] = [];
        stream.on('response', headers => (status = Number(headers[':status'])));
        stream.on('data', chunk => chunks.push(chunk));
        stream.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
        stream.on('error', reject);
        stream.end(body);
      });
    for (const size of sizes) {
      const { status, text } = await post(noise(size));
      expect(status).toBe(429);
      expect(JSON.parse(text).code).toBe('resource_exhausted');
      expect((await post(appendBody({ data: HEARTBEAT }))).status).toBe(200);
    }
    session.close();
  });
});

describe('the result of an exec', () => {
  it('[R7-ledger-before-ack] is in the ledger before its append is acknowledged', async () => {
    const store = openSqliteStore({ file: ':memory:', clock: systemClock });
    const order: string[] = [];
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const ledger = {
      ...store.ledger,
      async recordExec(...record: Parameters<typeof store.ledger.recordExec>) {
        reached.resolve();
        await gate.promise;
        await store.ledger.recordExec(...record);
        order.push('written');
      },
    };
    const provider = await startProvider({ answers: [READ, { text: 'done' }] });
    const server = await startTestServer({ provider: provider.baseUrl, store: { ...store, ledger } });
    const peer = new Peer({ url: server.url });
    peer.on = {
      readArgs: async exec => {
        const answered = await exec.reply(peer.workspace.answer('readArgs', exec.args)[0]);
        order.push(`acknowledged ${answered.status}`);
      },
    };
    await peer.open();
    await peer.run('read');
    await reached.promise;
    // another append goes through meanwhile: the connection, the server and the stream are at work
    expect((await peer.heartbeat()).status).toBe(200);
    expect(order).toEqual([]);
    gate.resolve();
    await peer.finish();
    await peer.until(() => (order.length === 2 ? true : undefined), 'acknowledgement');
    expect(order).toEqual(['written', 'acknowledged 200']);
    expect(peer.text).toBe('done');
    closeConnections();
    await server.close();
    await provider.close();
    await store.close();
  });
});

describe('the headers of a run', () => {
  let provider: Provider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider({
      answers: ({ body }) =>
        JSON.stringify(body.messages.at(-1)).includes('fail')
          ? { status: { code: 400, message: 'no' } }
          : { text: 'done' },
    });
    server = await startTestServer({ provider: provider.baseUrl });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const offered = async (headers: Record<string, string>) => {
    const peer = await new Peer({ url: server.url, headers }).turn('what can you do?');
    expect(peer.fault).toBeUndefined();
    return (provider.requests.at(-1)!.body.tools ?? []).map(tool => tool.function.name).sort();
  };

  it('[R9-allowed-tools] limit the offer to the cards they name, and to nothing when they name none', async () => {
    expect(await offered({ 'x-cursor-agent-allowed-tools': 'read_tool_call,grep_tool_call' })).toEqual([
      'Grep',
      'Read',
    ]);
    expect(await offered({ 'x-cursor-agent-allowed-tools': '' })).toEqual([]);
  });

  it('[R9-exclude-tools] take the cards they name out of the offer', async () => {
    const all = await offered({});
    const left = await offered({ 'x-cursor-agent-exclude-tools': 'shell_tool_call, delete_tool_call' });
    expect(all).toContain('Shell');
    expect(left).toEqual(all.filter(name => name !== 'Shell' && name !== 'Delete'));
  });

  it('[R9-blob-key-never-logged] keep the key for blobs out of every log line and every error', async () => {
    const key = 'c0ffee'.repeat(10) + 'abcd';
    const headers = { 'x-blob-encryption-key': key };
    await new Peer({ url: server.url, headers }).turn('hello');
    const failed = await new Peer({ url: server.url, headers }).turn('fail');
    expect(failed.fault).toBeDefined();
    const bad = await fetchWhole({
      url: server.url,
      path: APPEND,
      headers: unaryHeaders(headers),
      body: Buffer.from('zz'),
    });
    expect(JSON.stringify(failed.fault) + failed.fault!.message + bad.body.toString()).not.toContain(key);
    expect(server.log.length).toBeGreaterThan(0);
    expect(JSON.stringify(server.log)).not.toContain(key);
  });
});
