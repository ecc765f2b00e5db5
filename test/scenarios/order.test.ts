import { encodeAppend } from '@tandem/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import type { AskedExec } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, ChatBody, Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { APPEND, closeConnections, fetchWhole, transports, unaryHeaders } from '../support/wire.ts';
import { Workspace } from '../support/workspace.ts';

const GAP_MS = 30_000;
const PLACEHOLDER_MS = 30_000;
const read = (path = 'a.txt') => ({ name: 'Read', args: { path } });
/** What the model was given as results of its calls in this request. */
const results = (body: ChatBody) =>
  body.messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
/** A field 1000 that no version knows, as a client of the future might send: tag c2 3e, one byte. */
const UNKNOWN_BRANCH = Uint8Array.of(0xc2, 0x3e, 1, 0x78);

describe.each(transports)('order over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  let clock: ManualClock;
  let answers: Answer[] = [];
  beforeAll(async () => {
    provider = await startProvider({ answers: () => answers.shift() ?? { text: 'done' } });
    clock = new ManualClock();
    server = await startTestServer({ provider: provider.baseUrl, clock });
  });
  beforeEach(() => {
    answers = [];
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const newPeer = (options: Partial<ConstructorParameters<typeof Peer>[0]> = {}) =>
    new Peer({ url: server.url, transport, ...options });
  const post = (peer: Peer, seqno: number, bytes: Uint8Array) =>
    fetchWhole({
      url: server.url,
      path: APPEND,
      transport,
      headers: unaryHeaders(),
      body: encodeAppend({ requestId: peer.requestId, seqno, bytes }),
    });
  const requestsSince = (before: number) => provider.requests.slice(before).map(({ body }) => body);
  /** Opens, runs, and waits until the client was asked to read. */
  async function untilRead(peer: Peer): Promise<AskedExec> {
    answers.unshift({ calls: [read()] });
    const asked = Promise.withResolvers<AskedExec>();
    peer.on = { readArgs: exec => asked.resolve(exec) };
    await peer.open();
    await peer.run('read it');
    return asked.promise;
  }

  it('[R10-out-of-order] acts on appends in the order of their numbers, not of their arrival', async () => {
    answers = [{ calls: [{ name: 'Shell', args: { command: 'count' } }] }];
    const before = provider.requests.length;
    const peer = newPeer();
    peer.on = {
      shellStreamArgs: async exec => {
        const first = peer.seqno;
        peer.seqno += 4;
        const event = (at: number, value: object) =>
          exec.reply({ case: 'shellStream', value: { event: value as never } }, { seqno: first + at });
        // an end that overtook output waits for it, but its acknowledgement not for long (R7)
        const ended = event(3, { case: 'exit', value: { code: 0 } });
        await clock.untilTimer(1_000);
        clock.advance(1_000);
        await ended;
        await event(1, { case: 'stdout', value: { data: 'one\n' } });
        await event(2, { case: 'stdout', value: { data: 'two\n' } });
        expect(peer.all('update.toolCallCompleted')).toEqual([]);
        await event(0, { case: 'start', value: {} });
      },
    };
    await peer.turn('count');
    expect(results(requestsSince(before)[1]!)[0]).toContain('one\\ntwo');
    expect(peer.faults).toEqual([]);
  });

  it('[R10-starts-at-one] takes a client that numbers from 0 and one that numbers from 1', async () => {
    for (const firstSeqno of [0, 1]) {
      answers = [{ calls: [read()] }];
      const peer = await newPeer({ firstSeqno }).turn('read');
      expect([peer.fault, peer.text, peer.workspace.done]).toEqual([undefined, 'done', ['read a.txt']]);
    }
  });

  it('[R11-duplicate-dropped, bad-seqno-duplicate] X24: acknowledges an append that comes again, and acts on the first alone', async () => {
    answers = [{ calls: [read()] }];
    const before = provider.requests.length;
    const peer = newPeer();
    peer.on = {
      readArgs: async exec => {
        const [answer] = peer.workspace.answer('readArgs', exec.args);
        const seqno = peer.seqno++;
        const other = {
          case: 'readResult',
          value: { result: { case: 'error', value: { path: 'a.txt', error: 'another answer' } } },
        } as const;
        expect((await exec.reply(answer, { seqno })).status).toBe(200);
        expect((await exec.reply(answer, { seqno })).status).toBe(200);
        expect((await exec.reply(other, { seqno })).status).toBe(200);
      },
    };
    await peer.open();
    peer.seqno = 1;
    const run = peer.runRequest('read');
    const acks = await Promise.all([1, 2, 3].map(() => peer.send(run, { seqno: 0 })));
    await peer.send(peer.runRequest('another question'), { seqno: 0 });
    await peer.finish();
    expect(acks.map(({ status }) => status)).toEqual([200, 200, 200]);
    const requests = requestsSince(before);
    expect(requests).toHaveLength(2);
    for (const words of ['another question', 'another answer'])
      expect(JSON.stringify(requests).includes(words)).toBe(false);
    expect(peer.all('update.toolCallCompleted')).toHaveLength(1);
    expect(peer.text).toBe('done');
  });

  it('[R11-gap-becomes-error, bad-seqno-gap] ends a stream with a gap retryably once its time is over, and names the number', async () => {
    const peer = newPeer();
    const exec = await untilRead(peer);
    const missing = peer.seqno++;
    await exec.reply(peer.workspace.answer('readArgs', exec.args)[0]);
    await clock.pass(GAP_MS - 1_000);
    expect(peer.end).toBeUndefined();
    await clock.pass(1_500);
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'unavailable', retryable: true });
    expect(peer.fault!.detail).toContain(`Append ${missing} did not arrive`);
    expect((await newPeer().turn('and now?')).text).toBe('done');
  });

  it('[R11-cancel-passes-gap] takes a heartbeat and a cancel that stand behind a gap', async () => {
    const peer = newPeer();
    await untilRead(peer);
    peer.seqno++;
    expect((await peer.heartbeat()).status).toBe(200);
    expect(peer.end).toBeUndefined();
    await peer.cancel();
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'canceled' });
  });

  it('[R12-stream-first] joins a run to the reader that was there before it', async () => {
    const peer = newPeer();
    await peer.open();
    await peer.wait('update.heartbeat');
    await peer.run('hello');
    expect((await peer.finish()).text).toBe('done');
  });

  it('[R12-append-first] gives a reader that comes later the run from its first frame', async () => {
    const peer = newPeer();
    await peer.run('hello');
    await peer.open();
    await peer.finish();
    expect(peer.text).toBe('done');
    expect(peer.order.slice(0, 1)).toEqual(['exec.requestContextArgs']);
    expect(peer.order.filter(key => key === 'checkpoint').length).toBeGreaterThan(1);
    expect(peer.faults).toEqual([]);
  });

  it('[R12-placeholder-ends] ends a reader that no run request follows with deadline_exceeded, retryable', async () => {
    const peer = newPeer();
    await peer.open();
    await peer.wait('update.heartbeat');
    await clock.pass(PLACEHOLDER_MS - 1_000);
    expect(peer.end).toBeUndefined();
    await clock.pass(1_500);
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'deadline_exceeded', retryable: true });
    expect(peer.fault!.detail).toContain(peer.requestId);
  });

  it('[F4-followers-wait] F4: holds what overtakes the run request until it is there', async () => {
    const peer = newPeer({ firstSeqno: 1 });
    await peer.open();
    await peer.send({ case: 'kvClientMessage', value: { id: 900, message: { case: 'setBlobResult', value: {} } } });
    await peer.heartbeat();
    const answer = {
      case: 'execClientMessage',
      value: { id: 900, message: { case: 'readResult', value: {} } },
    } as const;
    await peer.send(answer);
    expect(peer.end).toBeUndefined();
    await peer.send(peer.runRequest('x'.repeat(3_000_000)), { seqno: 0 });
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  });

  it('[R13-request-id-again] F2: starts a new run under a request id whose run is over, numbered from 0', async () => {
    const first = await newPeer().turn('first');
    answers = [{ text: 'second answer' }];
    const again = first.next({ requestId: first.requestId });
    await again.open();
    await again.run('second', { conversationState: first.state });
    await again.finish();
    expect(again.sent[0]!.seqno).toBe(0);
    expect([again.fault, again.text]).toEqual([undefined, 'second answer']);
  });

  it('[R13-old-generation-dropped] F23: keeps late events of a run away from the next run of the same request id', async () => {
    const gate = `old-${transport}`;
    answers = [{ gate, text: 'old words' }, { text: 'new words' }];
    const old = newPeer();
    await old.open();
    await old.run('old');
    await provider.untilWaiting(gate);
    await old.cancel();
    await old.finish();
    const young = old.next({ requestId: old.requestId });
    await young.open();
    await young.run('young');
    provider.open(gate);
    await young.finish();
    expect(young.text).toBe('new words');
    expect(old.text).toBe('');
    expect(young.all('end')).toHaveLength(1);
  });

  it('[R14-separate-numbers] counts execs and blobs apart, each only upwards', async () => {
    answers = [{ calls: [read(), read(), { name: 'Ls', args: { path: '.' } }] }];
    const peer = await newPeer().turn('read');
    const execs = peer.execs.map(({ id }) => id);
    const blobs = peer.all('kv.setBlobArgs').map(({ message }) => (message!.message.value as { id: number }).id);
    for (const ids of [execs, blobs]) {
      expect(ids.length).toBeGreaterThan(3);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    }
    expect(execs.filter(id => blobs.includes(id)).length).toBeGreaterThan(0);
  });

  it('[R14-zero-is-valid] F13: gives an answer with id 0 to nobody but the question with that number', async () => {
    const before = provider.requests.length;
    const peer = newPeer();
    const exec = await untilRead(peer);
    const wrong = {
      case: 'readResult',
      value: { result: { case: 'error', value: { path: 'a.txt', error: 'answer number 0' } } },
    } as const;
    expect(exec.id).not.toBe(0);
    await peer.send({ case: 'execClientMessage', value: { id: 0, message: wrong } });
    await peer.send({
      case: 'execClientControlMessage',
      value: { message: { case: 'throw', value: { id: 0, error: 'thrown at 0' } } },
    });
    await exec.auto();
    await peer.finish();
    const [result] = results(requestsSince(before)[1]!);
    expect(result).toContain('hi file');
    expect(result).not.toContain('0');
  });

  it('[R14-exec-id-checked] matches an answer by its number, and passes one with a foreign exec_id by', async () => {
    const before = provider.requests.length;
    const peer = newPeer();
    const exec = await untilRead(peer);
    const wrong = {
      case: 'readResult',
      value: { result: { case: 'error', value: { path: 'a.txt', error: 'a foreign answer' } } },
    } as const;
    await peer.send({ case: 'execClientMessage', value: { id: exec.id, execId: `${exec.execId}x`, message: wrong } });
    const [right] = peer.workspace.answer('readArgs', exec.args);
    await peer.send({ case: 'execClientMessage', value: { id: exec.id, execId: exec.execId, message: right } });
    await peer.finish();
    expect(results(requestsSince(before)[1]!)[0]).toContain('hi file');
    // the other turns of this file answer without an exec_id
    expect((await newPeer().turn('again')).text).toBe('done');
  });

  it('[F13-early-results] F13: brings the answers of parallel execs to their own calls, in whatever order they come', async () => {
    answers = [{ calls: [read('a.txt'), read('b.txt'), read('c.txt')] }];
    const before = provider.requests.length;
    const peer = newPeer({ workspace: new Workspace({ 'a.txt': 'alpha', 'b.txt': 'beta', 'c.txt': 'gamma' }) });
    const asked: AskedExec[] = [];
    peer.on = {
      readArgs: async exec => {
        asked.push(exec);
        if (asked.length < 3) return;
        for (const one of [asked[2]!, asked[0]!, asked[1]!]) await one.auto();
      },
    };
    await peer.turn('read three');
    const tools = requestsSince(before)[1]!.messages.filter(({ role }) => role === 'tool');
    expect(tools.map(({ content }) => /alpha|beta|gamma/.exec(JSON.stringify(content))?.[0])).toEqual([
      'alpha',
      'beta',
      'gamma',
    ]);
  });

  it('[§3.1-unknown-branch] acknowledges a message of a branch that it does not know, and goes on', async () => {
    const peer = newPeer();
    const exec = await untilRead(peer);
    expect((await post(peer, peer.seqno++, UNKNOWN_BRANCH)).status).toBe(200);
    // conversation_action (4) without an action in it
    expect((await post(peer, peer.seqno++, Uint8Array.of(0x22, 0))).status).toBe(200);
    await exec.auto();
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
  });

  it('[§5-prewarm-accepted] takes a prewarm_request without a run, and the run that follows', async () => {
    const before = provider.requests.length;
    const peer = newPeer();
    await peer.open();
    expect((await peer.send({ case: 'prewarmRequest', value: { conversationId: peer.conversationId } })).status).toBe(
      200,
    );
    expect((await peer.heartbeat()).status).toBe(200);
    expect(server.load.runs).toBe(0);
    expect(provider.requests.length).toBe(before);
    await peer.run('now');
    expect((await peer.finish()).text).toBe('done');
  });

  it('[§14-two-heartbeats] renews the deadline of an exec by its own heartbeat alone', async () => {
    answers = [{ calls: [read('a.txt'), read('b.txt')] }];
    const before = provider.requests.length;
    const peer = newPeer();
    const asked: AskedExec[] = [];
    peer.on = { readArgs: exec => asked.push(exec) };
    await peer.open();
    await peer.run('read two');
    await peer.until(() => (asked.length === 2 ? true : undefined), 'two reads');
    const [beating, silent] = asked as [AskedExec, AskedExec];
    for (let round = 0; round < 3; round++) {
      await clock.pass(25_000);
      await beating.beat();
      await peer.heartbeat();
    }
    await peer.wait(frame => frame.key === 'update.toolCallCompleted');
    await beating.auto();
    await silent.auto();
    await peer.finish();
    const [kept, expired] = results(requestsSince(before)[1]!);
    expect(kept).toContain('hi file');
    expect(expired).toContain('did not answer');
    expect(peer.updates('toolCallCompleted')).toHaveLength(2);
  });
});

describe.each(transports)('two runs that are one over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  let answers: Answer[] = [];
  beforeAll(async () => {
    provider = await startProvider({ answers: () => answers.shift() ?? { text: 'done' } });
    server = await startTestServer({ provider: provider.baseUrl });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  /** A run that waits for its client to read a file. */
  async function stuckRun(
    options: Partial<ConstructorParameters<typeof Peer>[0]> = {},
  ): Promise<{ peer: Peer; exec: AskedExec }> {
    answers = [{ calls: [read()] }];
    const asked = Promise.withResolvers<AskedExec>();
    const peer = new Peer({ url: server.url, transport, on: { readArgs: exec => asked.resolve(exec) }, ...options });
    await peer.open();
    await peer.run('read');
    return { peer, exec: await asked.promise };
  }
  const superseded = { code: 'failed_precondition', title: 'Superseded', retryable: false };

  it('[R15-superseded] ends the live run of a conversation when a second one comes (S14)', async () => {
    const { peer } = await stuckRun();
    const second = await peer.next().turn('never mind');
    await peer.finish();
    expect(peer.fault).toMatchObject(superseded);
    expect(peer.all('control.abort')).toHaveLength(1);
    expect(second.text).toBe('done');
  });

  it('[R15-same-run-retried] ends the older attempt when the run id is known, or the request it retries', async () => {
    const byRunId = await stuckRun();
    const retry = await new Peer({ url: server.url, transport, runId: byRunId.peer.runId }).turn('again');
    await byRunId.peer.finish();
    expect([byRunId.peer.fault, retry.text]).toMatchObject([superseded, 'done']);

    const byRequest = await stuckRun();
    const headers = { 'x-original-request-id': byRequest.peer.requestId };
    const other = await new Peer({ url: server.url, transport, headers }).turn('again');
    await byRequest.peer.finish();
    expect([byRequest.peer.fault, other.text]).toMatchObject([superseded, 'done']);
  });

  it('leaves the runs of other conversations alone', async () => {
    const { peer, exec } = await stuckRun();
    await new Peer({ url: server.url, transport }).turn('elsewhere');
    expect(peer.end).toBeUndefined();
    await exec.auto();
    expect((await peer.finish()).fault).toBeUndefined();
  });

  it('[R15-late-events-stay-out] keeps late results and late words of the old run away from the new one', async () => {
    const gate = `late-${transport}`;
    const { peer, exec } = await stuckRun();
    const before = provider.requests.length;
    answers = [{ gate, text: 'new words' }];
    const second = peer.next();
    await second.open();
    await second.run('never mind');
    await provider.untilWaiting(gate);
    expect((await exec.reply(peer.workspace.answer('readArgs', exec.args)[0])).status).toBe(200);
    provider.open(gate);
    await second.finish();
    await peer.finish();
    expect(second.text).toBe('new words');
    expect(provider.requests.slice(before).map(({ text }) => text.includes('hi file'))).toEqual([false]);
    expect(second.all('update.toolCallCompleted')).toEqual([]);
  });

  it('[R15-retry-continues] finishes the turn for a retry that brings the last checkpoint', async () => {
    const { peer } = await stuckRun();
    const staged = peer.state;
    peer.drop();
    const retry = peer.next({ runId: peer.runId, headers: { 'x-original-request-id': peer.requestId } });
    await retry.open();
    await retry.resume(staged);
    await retry.finish();
    expect([retry.fault, retry.text, retry.workspace.done]).toEqual([undefined, 'done', ['read a.txt']]);
    expect(retry.faults).toEqual([]);
  });
});
