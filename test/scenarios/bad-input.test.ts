import { encodeAppend, encodeEnvelope } from '@tandem/protocol';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import type { AskedExec } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import {
  APPEND,
  RUN_SSE,
  closeConnections,
  fetchWhole,
  streamHeaders,
  transports,
  unaryHeaders,
} from '../support/wire.ts';

const LIMIT = 64 * 1024;
const HEARTBEAT = Uint8Array.of(0x3a, 0x00);
const READ = { name: 'Read', args: { path: 'a.txt' } };
/** A user message whose rules are behind a blob id. */
const rulesBehind = (rulesBlobId: Uint8Array) => ({
  action: {
    action: { case: 'userMessageAction', value: { userMessage: { text: 'hello' } } },
    requestContextParts: { rulesBlobId, rulesByteLength: 100, dynamicContext: {} },
  },
});

describe.each(transports)('input that nobody should send, over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  let clock: ManualClock;
  let ownTimers = 0;
  let answers: Answer[] = [];
  beforeAll(async () => {
    provider = await startProvider({ answers: () => answers.shift() ?? { text: 'done' } });
    clock = new ManualClock();
    server = await startTestServer({ provider: provider.baseUrl, clock, config: { limits: { messageBytes: LIMIT } } });
    ownTimers = clock.pending;
  });
  beforeEach(() => {
    answers = [];
  });
  /** After each: a normal turn works, and nothing of what was is left. */
  afterEach(async () => {
    answers = [{ calls: [READ] }];
    const peer = await newPeer().turn('is all well?');
    expect([peer.fault, peer.text, peer.workspace.done, peer.faults]).toEqual([undefined, 'done', ['read a.txt'], []]);
    await clock.pass(200_000, 5_000);
    expect(server.load).toEqual({ streams: 0, runs: 0 });
    expect(clock.pending).toBe(ownTimers);
    expect(server.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const newPeer = (options: Partial<ConstructorParameters<typeof Peer>[0]> = {}) =>
    new Peer({ url: server.url, transport, ...options });
  const append = (body: Uint8Array) =>
    fetchWhole({ url: server.url, path: APPEND, transport, headers: unaryHeaders(), body });
  const newestTools = (from: number) =>
    provider.requests
      .slice(from)
      .at(-1)!
      .body.messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.stringify(content));
  async function untilRead(peer: Peer): Promise<AskedExec> {
    answers.unshift({ calls: [READ] });
    const asked = Promise.withResolvers<AskedExec>();
    peer.on = { ...peer.on, readArgs: exec => asked.resolve(exec) };
    await peer.open();
    await peer.run('read it');
    return asked.promise;
  }

  it('[bad-random-bytes] answers bodies of noise with invalid_argument, and lives (T12)', async () => {
    for (const size of [1, 5, 300, 70_000]) {
      const noise = Buffer.concat([Buffer.from([0xff]), randomBytes(size)]);
      const up = await append(noise);
      expect(up.status).toBe(400);
      expect(JSON.parse(up.body.toString()).code).toBe('invalid_argument');
      const down = await fetchWhole({
        url: server.url,
        path: RUN_SSE,
        transport,
        headers: streamHeaders(),
        body: noise,
      });
      expect(down.status).toBe(200);
      expect(JSON.parse(down.body.toString('utf8', 5)).error.code).toBe('invalid_argument');
    }
  });

  it('[bad-random-bytes] lets go of a connection that speaks no HTTP', async () => {
    const { hostname, port } = new URL(server.url);
    for (const bytes of [
      randomBytes(400),
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnoise'.repeat(9)),
      Buffer.from('GET\r\n\r\n'),
      Buffer.from('\x16\x03\x01\x02\x00\x01'),
    ]) {
      const socket = net.connect(Number(port), hostname);
      socket.on('error', () => {});
      const closed = new Promise<void>(resolve => socket.on('close', () => resolve()));
      socket.resume();
      socket.end(bytes);
      await closed;
    }
  });

  it('[bad-huge-numbers] takes the largest numbers without harm and refuses a negative one', async () => {
    const largest = 2n ** 63n - 1n;
    expect((await append(encodeAppend({ requestId: 'nobody', seqno: largest, bytes: HEARTBEAT }))).status).toBe(200);
    const negative = await append(encodeAppend({ requestId: 'nobody', seqno: -1n, bytes: HEARTBEAT }));
    expect(negative.status).toBe(400);
    expect(JSON.parse(negative.body.toString()).message).toContain('append_seqno is -1');

    const peer = newPeer();
    const exec = await untilRead(peer);
    await peer.heartbeat({ seqno: largest });
    await peer.send(
      { case: 'kvClientMessage', value: { id: 0xffffffff, message: { case: 'setBlobResult', value: {} } } },
      { seqno: largest - 1n },
    );
    await peer.send({
      case: 'execClientMessage',
      value: { id: 0xffffffff, message: { case: 'readResult', value: {} } },
    });
    await peer.send({
      case: 'execClientControlMessage',
      value: { message: { case: 'throw', value: { id: 0xffffffff, error: 'x' } } },
    });
    await exec.auto();
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  });

  it('[bad-unknown-request-id] keeps a bounded number of requests that nobody opened, and refuses an empty id', async () => {
    for (let batch = 0; batch < 20; batch++) {
      const acks = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          append(encodeAppend({ requestId: `unknown ${batch} ${at}`, seqno: 3, bytes: HEARTBEAT })),
        ),
      );
      expect(new Set(acks.map(({ status }) => status))).toEqual(new Set([200]));
    }
    expect(server.load.streams).toBeLessThanOrEqual(64);
    expect((await append(encodeAppend({ requestId: '', seqno: 0, bytes: HEARTBEAT }))).status).toBe(400);
  });

  it('takes names that JavaScript objects have by nature for what they are', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const peer = await newPeer({ requestId: name, conversationId: name, runId: name }).turn('hello');
      expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
    }
  });

  it('[bad-wrong-branch-answer] fails the call that is answered with the wrong branch, and no other', async () => {
    answers = [{ calls: [READ, { name: 'Read', args: { path: 'b.txt' } }] }];
    const before = provider.requests.length;
    const peer = newPeer();
    peer.workspace.files.set('b.txt', 'the other file');
    peer.on = {
      readArgs: exec =>
        exec.args.path.endsWith('a.txt')
          ? exec.reply({ case: 'writeResult', value: { result: { case: 'success', value: { path: 'a.txt' } } } })
          : exec.auto(),
    };
    await peer.turn('read both');
    const [wrong, right] = newestTools(before);
    expect(wrong).toContain('unexpected result');
    expect(right).toContain('the other file');
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  });

  it('[bad-answer-to-nobody] passes over answers to execs, blobs and queries that nobody asked (F14)', async () => {
    const peer = newPeer();
    const exec = await untilRead(peer);
    const acks = [
      await peer.send({ case: 'execClientMessage', value: { id: 777, message: { case: 'readResult', value: {} } } }),
      await peer.send({
        case: 'kvClientMessage',
        value: { id: 777, message: { case: 'getBlobResult', value: { blobData: Uint8Array.of(1) } } },
      }),
      await peer.send({ case: 'interactionResponse', value: { id: 777 } }),
    ];
    expect(acks.map(({ status }) => status)).toEqual([200, 200, 200]);
    await exec.auto();
    expect((await peer.finish()).text).toBe('done');
    const warned = server.log.filter(({ level, fields }) => level === 'warn' && fields['id'] === 777);
    expect(warned).toHaveLength(3);
  });

  it('[bad-oversized-blob] refuses a blob over the limit with both numbers, and the run goes on without it', async () => {
    const peer = newPeer();
    const refused = Promise.withResolvers<{ status: number; body: Buffer }>();
    peer.onBlob = blob =>
      blob.kind === 'setBlobArgs'
        ? blob.auto()
        : blob
            .reply({
              case: 'kvClientMessage',
              value: {
                id: blob.id,
                message: { case: 'getBlobResult', value: { blobData: new Uint8Array(LIMIT + 1) } },
              },
            })
            .then(refused.resolve);
    await peer.open();
    await peer.run('', rulesBehind(new Uint8Array(32).fill(9)));
    const { status, body } = await refused.promise;
    expect(status).toBe(429);
    expect(JSON.parse(body.toString()).message).toMatch(/655\d\d bytes is over the limit of 65536/);
    // the number of the refused append stays open, so the client that cannot send it says the blob is not there
    await peer.send(
      { case: 'kvClientMessage', value: { id: 1, message: { case: 'getBlobResult', value: {} } } },
      { seqno: 1 },
    );
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  });

  it('[bad-wrong-hash] takes a blob that is not what its id says for missing', async () => {
    const before = provider.requests.length;
    const peer = newPeer();
    // RequestContextRulesPart would begin like this; what counts is that it is not the data of the id
    const forged = Buffer.from('\x0a\x20forged rules that nobody wrote!!', 'latin1');
    peer.onBlob = blob =>
      blob.kind === 'setBlobArgs'
        ? blob.auto()
        : blob.reply({
            case: 'kvClientMessage',
            value: { id: blob.id, message: { case: 'getBlobResult', value: { blobData: forged } } },
          });
    await peer.open();
    await peer.run('', rulesBehind(new Uint8Array(32).fill(11)));
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
    expect(provider.requests[before]!.text.includes('forged')).toBe(false);
    expect(server.log.some(({ text, level }) => level === 'warn' && text === 'a blob is not what its id says')).toBe(
      true,
    );
  });

  it('[bad-unknown-model] refuses a model that nobody offers and names the nearest', async () => {
    const peer = await newPeer({ model: 'tset-model' }).turn('hello');
    expect(peer.fault).toMatchObject({ code: 'invalid_argument', retryable: false });
    expect(peer.fault!.detail).toContain('tset-model');
    expect(peer.fault!.detail).toContain('test-model');
  });

  it('[bad-tool-arguments] runs no tool with arguments that are not valid, and tells the model how to mend them', async () => {
    answers = [
      {
        calls: [
          { name: 'Read', args: '{"path": "a.t' },
          { name: 'Read', args: { limit: 3 } },
        ],
      },
    ];
    const before = provider.requests.length;
    const peer = await newPeer().turn('read');
    expect(peer.workspace.done).toEqual([]);
    expect(peer.all('exec.readArgs')).toEqual([]);
    const told = newestTools(before);
    expect(told).toHaveLength(2);
    for (const text of told) expect(text).toContain('path');
    expect(told[0]).toContain('JSON');
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  });

  it.each([
    ['no action', {}, 'action is missing'],
    ['an action without a branch', { action: {} }, 'action is missing'],
    ['a resume of nothing', { action: { action: { case: 'resumeAction', value: {} } } }, 'without a conversation'],
  ])('answers a run with %s by an end frame that says so', async (_, extra, text) => {
    const peer = newPeer();
    await peer.open();
    await peer.run('', { action: undefined, ...extra });
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'invalid_argument', retryable: false });
    expect(peer.fault!.detail).toContain(text);
  });

  it('[bad-client-gone-at-any-frame] loses nothing but the run of a client that leaves, at whichever frame', async () => {
    const toolTurn = () => (answers = [{ reasoning: 'I think.', text: 'I look.', calls: [READ] }, { text: 'done' }]);
    toolTurn();
    const whole = await newPeer().turn('look');
    const frames = whole.frames.length;
    expect(frames).toBeGreaterThan(15);
    for (let frame = 1; frame <= frames; frame++) {
      toolTurn();
      const peer = newPeer();
      await peer.open();
      const running = peer.run('look').catch(() => undefined);
      await peer.until(() => (peer.frames.length >= frame ? true : undefined), `frame ${frame}`);
      peer.onBlob = () => undefined;
      peer.on = { requestContextArgs: () => undefined, readArgs: () => undefined };
      peer.drop();
      await running;
      await peer.calls[0]!.closed;
      for (let second = 0; second < 40 && server.load.runs > 0; second++) await clock.pass(1_000, 1_000);
      expect(server.load.runs, `runs after a client left at frame ${frame}`).toBe(0);
    }
    answers = [];
    const next = whole.next();
    await next.open();
    await next.run('and now?', { conversationState: whole.state });
    expect((await next.finish()).text).toBe('done');
  });

  it('encodes what it says as one envelope, whatever was asked', async () => {
    for (const body of [encodeEnvelope(new Uint8Array(0)), encodeEnvelope(randomBytes(20)), Buffer.alloc(3)]) {
      const { body: answer } = await fetchWhole({
        url: server.url,
        path: RUN_SSE,
        transport,
        headers: streamHeaders(),
        body,
      });
      expect([answer[0], answer.readUInt32BE(1)]).toEqual([0x02, answer.length - 5]);
    }
  });

  it('survives clients that reset their connections, before anybody noticed', async () => {
    const peers = Array.from({ length: 10 }, () => newPeer());
    await Promise.all(
      peers.map(async peer => {
        await peer.open();
        const running = peer.run('hello').catch(() => undefined);
        peer.drop();
        await running;
      }),
    );
    await clock.pass(120_000, 1_000);
    await eventually(() => server.load.runs === 0, 'end of the runs');
  });
});

describe('a broken config', () => {
  it('[bad-config] is refused with the path of the key, what was expected and what was found, and nothing listens', async () => {
    const port = await freePort();
    const broken = startTestServer({ port, config: { limits: { messageBytes: 'much' }, lsiten: {} } });
    const error = await broken.then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.name).toBe('ConfigError');
    expect(error?.message).toMatch(/limits\.messageBytes: expected .*number.*found "much"/);
    expect(error?.message).toMatch(/lsiten/);
    expect(error?.message).toContain('listen');
    const socket = net.connect(port, '127.0.0.1');
    const refused = await new Promise<boolean>(resolve =>
      socket.on('connect', () => resolve(false)).on('error', () => resolve(true)),
    );
    socket.destroy();
    expect(refused).toBe(true);
  });
});

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

describe('a provider that is not there', () => {
  const limits = { providerAttempts: 1, providerFirstTokenSeconds: 20, providerIdleSeconds: 20 };
  async function setUp(answers: Answer[] | undefined) {
    const clock = new ManualClock();
    const provider = answers && (await startProvider({ answers }));
    const baseUrl = provider?.baseUrl ?? `http://127.0.0.1:${await freePort()}/v1`;
    const server = await startTestServer({ provider: baseUrl, clock, config: { limits } });
    const peer = new Peer({ url: server.url });
    await peer.open();
    await peer.run('hello');
    return {
      clock,
      provider,
      baseUrl,
      server,
      peer,
      async close() {
        closeConnections();
        await server.close();
        await provider?.close();
      },
    };
  }

  it('[bad-dead-provider] gives unavailable with its address, and no key', async () => {
    const { peer, baseUrl, server, close } = await setUp(undefined);
    await peer.finish();
    expect(peer.fault!.code).toBe('unavailable');
    expect(peer.fault!.detail).toContain(new URL(baseUrl).host);
    // our own tries were enough: only a person can mend an address where nobody is
    expect(peer.fault).toMatchObject({ retryable: false, additionalInfo: { provider_unreachable: 'true' } });
    expect(JSON.stringify([peer.fault, peer.fault!.detail, server.log]).includes('provider-key-do-not-leak')).toBe(
      false,
    );
    expect(peer.text).toBe('');
    await close();
  });

  it('[bad-provider-hangs-before-headers] ends the run at the deadline while heartbeats go on', async () => {
    const { clock, provider, peer, server, close } = await setUp([{ silent: 'before-headers' }]);
    await provider!.untilRequests(1);
    await clock.pass(19_000);
    expect(peer.end).toBeUndefined();
    await clock.pass(2_000);
    await peer.finish();
    expect(peer.fault!.code).toBe('unavailable');
    expect(peer.all('update.heartbeat').length).toBeGreaterThanOrEqual(4);
    expect(await provider!.requests[0]!.closed).toEqual({ early: true });
    expect(server.load.runs).toBe(0);
    await close();
  });

  it('[bad-provider-hangs-mid-stream] ends the run at the deadline, and what was shown stays shown', async () => {
    const { clock, provider, peer, close } = await setUp([{ events: [{ text: 'half a sen' }, { hang: true }] }]);
    await peer.wait('update.textDelta');
    await clock.pass(19_000);
    expect(peer.end).toBeUndefined();
    await clock.pass(2_000);
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'unavailable', retryable: false });
    expect(peer.text).toBe('half a sen');
    expect(await provider!.requests[0]!.closed).toEqual({ early: true });
    await close();
  });
});
