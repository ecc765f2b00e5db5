import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import type { AskedExec } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { closeConnections, transports } from '../support/wire.ts';

const GRACE_MS = 15_000;
const EXEC_WAIT_MS = 60_000;
const READ = { name: 'Read', args: { path: 'a.txt' } };
/** A context in the run request, so that nothing has to be asked for. */
const withContext = (text: string) => ({
  action: { action: { case: 'userMessageAction', value: { userMessage: { text }, requestContext: {} } } },
});

describe.each(transports)('liveness over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  let clock: ManualClock;
  let answers: Answer[] = [];
  let ownTimers = 0;
  let gates = 0;
  let gate = '';
  beforeAll(async () => {
    provider = await startProvider({ answers: () => answers.shift() ?? { text: 'done' } });
    clock = new ManualClock();
    server = await startTestServer({ provider: provider.baseUrl, clock });
    ownTimers = clock.pending;
  });
  beforeEach(() => {
    answers = [];
    gate = `gate ${++gates}`;
  });
  afterEach(() => {
    provider.open(gate);
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const newPeer = (options: Partial<ConstructorParameters<typeof Peer>[0]> = {}) =>
    new Peer({ url: server.url, transport, ...options });
  const beats = (peer: Peer) => peer.all('update.heartbeat').length;
  /** Lets a minute pass, looking every five seconds whether the stream spoke. */
  async function aMinuteOfBeats(peer: Peer, each: () => unknown = () => {}): Promise<void> {
    for (let window = 0; window < 12; window++) {
      const before = peer.frames.length;
      await clock.pass(5_000);
      await peer.until(
        () => (peer.frames.length > before ? true : undefined),
        `frame in the window from ${window * 5} s on`,
      );
      await each();
    }
  }
  /** Drops the reader and waits until the server knows. */
  async function drop(peer: Peer): Promise<void> {
    const before = clock.pending;
    peer.drop();
    await eventually(() => clock.pending > before, 'grace for a lost reader');
  }

  it('[R16-first-frame-1s] speaks before any time has passed, though the provider says nothing (S11)', async () => {
    answers = [{ silent: 'before-headers' }];
    const now = clock.now();
    const peer = newPeer();
    await peer.open();
    await peer.run('hello');
    expect((await peer.wait(() => true)).key).toBe('update.heartbeat');
    expect(clock.now()).toBe(now);
    await peer.cancel();
    await peer.finish();
  });

  it('[R16-heartbeat-5s] beats while the model is silent', async () => {
    answers = [{ gate, text: 'at last' }];
    const peer = newPeer();
    await peer.open();
    await peer.run('think');
    await provider.untilWaiting(gate);
    await aMinuteOfBeats(peer);
    provider.open(gate);
    expect((await peer.finish()).text).toBe('at last');
  });

  it('[R16-heartbeat-5s] F8: beats while a tool runs, and while a blob is not acknowledged', async () => {
    answers = [{ calls: [READ] }];
    const asked = Promise.withResolvers<AskedExec>();
    const peer = newPeer({ on: { readArgs: exec => asked.resolve(exec) } });
    await peer.open();
    await peer.run('read');
    const exec = await asked.promise;
    await aMinuteOfBeats(peer, () => exec.beat());
    await exec.auto();
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);

    const held: (() => unknown)[] = [];
    const keeper = newPeer({ onBlob: blob => held.push(() => blob.auto()) });
    await keeper.open();
    await keeper.run('hello');
    await keeper.wait('kv.setBlobArgs');
    await aMinuteOfBeats(keeper, () => keeper.heartbeat());
    keeper.onBlob = undefined;
    for (const answer of held) await answer();
    expect((await keeper.finish()).text).toBe('done');
  });

  it('[T14-long-silence] covers 40 s of silence with seven heartbeats or more, and then the text comes (F8)', async () => {
    answers = [{ gate, text: 'after forty seconds' }];
    const peer = newPeer();
    await peer.open();
    await peer.run('think hard');
    await provider.untilWaiting(gate);
    const before = beats(peer);
    await clock.pass(40_000);
    provider.open(gate);
    await peer.finish();
    expect(beats(peer) - before).toBeGreaterThanOrEqual(7);
    expect([peer.fault, peer.text]).toEqual([undefined, 'after forty seconds']);
  });

  it('sends no heartbeat into a stream that talks', async () => {
    answers = [{ events: [{ text: 'one ' }, { gate }, { text: 'two' }] }];
    const peer = newPeer();
    await peer.open();
    await peer.run('talk');
    await peer.wait('update.textDelta');
    const before = beats(peer);
    await clock.pass(2_500);
    provider.open(gate);
    await peer.finish();
    expect(beats(peer)).toBe(before);
  });

  it('[R18-exec-deadline] makes a tool error of an exec that falls silent; its heartbeats renew the deadline', async () => {
    answers = [{ calls: [READ] }];
    const before = provider.requests.length;
    const asked = Promise.withResolvers<AskedExec>();
    const peer = newPeer({ on: { readArgs: exec => asked.resolve(exec) } });
    await peer.open();
    await peer.run('read');
    const exec = await asked.promise;
    for (let round = 0; round < 3; round++) {
      await clock.pass(EXEC_WAIT_MS - 5_000);
      await exec.beat();
    }
    await clock.pass(EXEC_WAIT_MS - 1_000);
    expect(peer.all('update.toolCallCompleted')).toEqual([]);
    await clock.pass(2_000);
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
    const result = provider.requests[before + 1]!.body.messages.at(-1)!;
    expect(result.role).toBe('tool');
    expect(JSON.stringify(result.content)).toContain('did not answer');
    expect(peer.all('control.abort')).toHaveLength(1);
    expect((await exec.reply(peer.workspace.answer('readArgs', exec.args)[0])).status).toBe(200);
  });

  it('[R18-blob-deadline] goes on without a blob that is never given', async () => {
    const peer = newPeer({ onBlob: blob => (blob.kind === 'setBlobArgs' ? blob.auto() : undefined) });
    await peer.open();
    await peer.run('', {
      action: {
        action: { case: 'userMessageAction', value: { userMessage: { text: 'hello' } } },
        requestContextParts: { rulesBlobId: new Uint8Array(32).fill(7), rulesByteLength: 10, dynamicContext: {} },
      },
    });
    await peer.wait('kv.getBlobArgs');
    await clock.pass(59_000);
    expect(peer.text).toBe('');
    await clock.pass(2_000);
    expect((await peer.finish()).text).toBe('done');
  });

  it('[R19-reader-gone-cancels] F1: cancels a run that nobody reads once the grace is over, and aborts its provider', async () => {
    answers = [{ gate, text: 'nobody hears this' }];
    const peer = newPeer();
    await peer.open();
    await peer.run('talk');
    await provider.untilWaiting(gate);
    await drop(peer);
    const request = provider.requests.at(-1)!;
    await clock.pass(GRACE_MS - 1_000);
    expect(server.load.runs).toBe(1);
    await clock.pass(1_000);
    expect(await request.closed).toEqual({ early: true });
    expect(server.load.runs).toBe(0);
    await eventually(
      () =>
        server.log.some(
          ({ text, fields }) =>
            text === 'run' && fields['requestId'] === peer.requestId && fields['outcome'] === 'canceled',
        ),
      'line of the run',
    );
  });

  it('[R19-no-new-work-unread] starts no model call for a run that nobody reads', async () => {
    const before = provider.requests.length;
    const peer = newPeer();
    await peer.run('', withContext('hello'));
    await clock.pass(GRACE_MS - 1_000);
    expect(provider.requests.length).toBe(before);
    await peer.open();
    await peer.finish();
    expect([provider.requests.length, peer.text]).toEqual([before + 1, 'done']);
  });

  it('[R19-no-new-work-unread] starts no exec and no further model call while the reader is away', async () => {
    answers = [
      { events: [{ text: 'I look. ' }, { gate }, { call: { id: 'c1', name: 'Read', args: '{"path":"a.txt"}' } }] },
      { text: 'done' },
    ];
    const before = provider.requests.length;
    const peer = newPeer();
    await peer.open();
    await peer.run('look', withContext('look'));
    await peer.wait('update.textDelta');
    await drop(peer);
    provider.open(gate);
    await provider.requests[before]!.closed;
    await clock.pass(GRACE_MS - 1_000);
    expect([provider.requests.length, peer.workspace.done]).toEqual([before + 1, []]);
    await peer.open();
    await peer.finish();
    expect([peer.text, peer.workspace.done, peer.faults]).toEqual(['I look. done', ['read a.txt'], []]);
  });

  it('[R19-reconnect-in-order] gives a reader that comes back what it missed, in order and nothing twice', async () => {
    const words = Array.from({ length: 50 }, (_, at) => `word${at} `);
    answers = [{ events: [{ text: 'begun ' }, { gate }, ...words.map(text => ({ text }))] }];
    const before = provider.requests.length;
    const peer = newPeer();
    await peer.open();
    await peer.run('count');
    await peer.wait('update.textDelta');
    await drop(peer);
    provider.open(gate);
    await provider.requests[before]!.closed;
    await clock.pass(GRACE_MS - 2_000);
    expect(peer.text).toBe('begun ');
    await peer.open();
    await peer.finish();
    expect(peer.text).toBe(`begun ${words.join('')}`);
    expect(peer.updates('turnEnded')).toHaveLength(1);
    expect([peer.fault, peer.faults]).toEqual([undefined, []]);
  });

  it('[R19-newest-reader-owns, F7-late-close-harmless] F7: gives the stream to the latest reader and lets go of the one before', async () => {
    answers = [{ events: [{ text: 'for the first ' }, { gate }, { text: 'for the second' }] }];
    const peer = newPeer();
    await peer.open();
    await peer.run('talk');
    await peer.wait('update.textDelta');
    await peer.open();
    await peer.wait(frame => frame.connection === 1);
    await peer.calls[0]!.closed;
    peer.calls[0]!.destroy();
    await clock.pass(GRACE_MS * 2);
    provider.open(gate);
    await peer.finish();
    expect(peer.fault).toBeUndefined();
    expect(peer.text).toBe('for the first for the second');
    expect(peer.frames.filter(frame => frame.connection === 0).some(frame => frame.key === 'end')).toBe(false);
  });

  it('leaves no timer and no stream behind when all of this is over', async () => {
    await clock.pass(200_000, 10_000);
    expect(server.load).toEqual({ streams: 0, runs: 0 });
    expect(clock.pending).toBe(ownTimers);
  });
});
