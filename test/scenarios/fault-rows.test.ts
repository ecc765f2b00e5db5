import http2 from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import type { AskedExec, PeerOptions } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { prepareServerProcess } from '../support/server-process.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { RUN_SSE, closeConnections } from '../support/wire.ts';

/** Rows of docs/decisions/cases.md that no other test has for its subject, each by its id. */
describe('a known fault does not happen here:', () => {
  let provider: Provider;
  let server: TestServer;
  let clock: ManualClock;
  let answers: Answer[] = [];
  beforeAll(async () => {
    provider = await startProvider({ answers: () => answers.shift() ?? { text: 'done' } });
    clock = new ManualClock();
    server = await startTestServer({ provider: provider.baseUrl, clock });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const newPeer = (options: Partial<PeerOptions> = {}) => new Peer({ url: server.url, ...options });
  const newest = () =>
    provider.requests.at(-1)!.body as unknown as Record<string, unknown> & { messages: Record<string, unknown>[] };
  const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
  const shell = { name: 'Shell', args: { command: 'make test' } };

  /** Starts a turn and gives the shell that it asks for, unanswered. */
  async function untilShell(peer: Peer): Promise<AskedExec> {
    const asked = Promise.withResolvers<AskedExec>();
    peer.on = { ...peer.on, shellStreamArgs: exec => asked.resolve(exec) };
    await peer.open();
    await peer.run('run it');
    return asked.promise;
  }

  /** Twenty minutes in which the client says every twenty seconds that its command still runs. */
  async function beatForLong(exec: AskedExec): Promise<void> {
    for (let beat = 0; beat < 60; beat++) {
      await exec.beat();
      await clock.pass(20_000, 10_000);
    }
  }

  it('T06: HTTP/2 PINGs are acknowledged between the deltas of an answer of eight megabytes', async () => {
    const pieces = 128;
    const big = await startProvider({
      answers: () => ({ text: Array.from({ length: pieces }, () => 'x'.repeat(65_536)) }),
    });
    const other = await prepareServerProcess(big.baseUrl);
    await other.start();
    const session = http2.connect(other.url);
    const peer = new Peer({ url: other.url, transport: 'h2c' });
    /** Of the PINGs whose answer came between the first delta and the last: how long it took, in milliseconds. */
    const roundTrips: number[] = [];
    const pinged = new Promise<void>((resolve, reject) => {
      const next = () =>
        void session.ping((error, duration) => {
          const deltas = peer.all('update.textDelta').length;
          if (deltas > 0 && deltas < pieces) roundTrips.push(duration);
          if (error) reject(error);
          else if (peer.end) resolve();
          else next();
        });
      session.once('connect', next);
    });
    await peer.turn('say much');
    await pinged;
    session.destroy();
    await other.close();
    await big.close();
    expect(peer.text).toHaveLength(pieces * 65_536);
    expect(roundTrips.length).toBeGreaterThanOrEqual(5);
    // the middle one: this process is the client and the model too, and is not always there to take an answer at once
    expect(roundTrips.sort((left, right) => left - right)[Math.floor(roundTrips.length / 2)]).toBeLessThan(1_000);
  });

  it('T06: a stream that nobody reads keeps nobody from a PING on its own connection', async () => {
    answers = [{ text: Array.from({ length: 64 }, () => 'x'.repeat(65_536)) }];
    const session = http2.connect(server.url);
    const peer = newPeer({ transport: 'h2c' });
    const unread = session.request({
      ':method': 'POST',
      ':path': RUN_SSE,
      'content-type': 'application/connect+proto',
      authorization: 'Bearer test-token',
    });
    unread.end(
      Buffer.concat([
        Buffer.of(0, 0, 0, 0, peer.requestId.length + 2, 10, peer.requestId.length),
        Buffer.from(peer.requestId),
      ]),
    );
    await peer.run('say much');
    await provider.untilRequests(provider.requests.length);
    const duration = await new Promise<number>(
      (resolve, reject) => void session.ping((error, took) => (error ? reject(error) : resolve(took))),
    );
    expect(duration).toBeLessThan(1_000);
    session.destroy();
    await clock.pass(120_000, 5_000);
  });

  it('F38: waiting for leave is no shell time, and a command of twenty minutes lives on', async () => {
    answers = [{ calls: [shell] }];
    const peer = newPeer();
    const exec = await untilShell(peer);
    await beatForLong(exec);
    expect(peer.all('control.abort')).toEqual([]);
    await exec.auto();
    isFine(await peer.finish());
    expect(String(newest().messages.at(-1)!['content'])).toContain('make test');
  });

  it('F74: context that takes fifty seconds is waited for, with signs of life', async () => {
    const asked = Promise.withResolvers<AskedExec>();
    const peer = newPeer({ on: { requestContextArgs: exec => asked.resolve(exec) } });
    await peer.open();
    await peer.run('hello');
    const exec = await asked.promise;
    await clock.pass(50_000, 1_000);
    await eventually(() => peer.all('update.heartbeat').length >= 9, 'heartbeats');
    await exec.auto();
    isFine(await peer.finish());
  });

  it('F73: the window that is configured for a model is the one that is shown', async () => {
    const windows = [];
    for (const model of ['test-model', 'blind-model']) {
      const peer = await newPeer({ model }).turn('hello');
      isFine(peer);
      windows.push(peer.state.tokenDetails?.maxTokens);
    }
    expect(windows).toEqual([200_000, 40_000]);
  });

  it('P29: each checkpoint carries used and maximum tokens', async () => {
    answers = [{ calls: [shell] }];
    const peer = await newPeer().turn('hello');
    isFine(peer);
    expect(peer.checkpoints.length).toBeGreaterThanOrEqual(2);
    for (const { state } of peer.checkpoints)
      expect(state.tokenDetails).toMatchObject({ usedTokens: expect.any(Number), maxTokens: 200_000 });
    expect(peer.state.tokenDetails!.usedTokens).toBeGreaterThan(0);
  });

  it('F86: a provider gets the fields of chat completions and no other', async () => {
    answers = [{ reasoning: 'I think.', calls: [shell] }];
    isFine(await newPeer().turn('hello'));
    const known = [
      'model',
      'messages',
      'stream',
      'stream_options',
      'tools',
      'tool_choice',
      'max_tokens',
      'reasoning_effort',
    ];
    expect(Object.keys(newest()).filter(key => !known.includes(key))).toEqual([]);
    const ofMessages = new Set(newest().messages.flatMap(message => Object.keys(message)));
    const knownOfMessages = ['role', 'content', 'tool_calls', 'tool_call_id', 'reasoning_content', 'name'];
    expect([...ofMessages].filter(key => !knownOfMessages.includes(key))).toEqual([]);
  });

  it('P07: the roles are those that every provider of this kind knows', async () => {
    answers = [{ calls: [shell] }];
    isFine(await newPeer().turn('hello'));
    const roles = newest().messages.map(({ role }) => role);
    expect(roles[0]).toBe('system');
    expect(new Set(roles)).toEqual(new Set(['system', 'user', 'assistant', 'tool']));
  });

  it('F83: the reasoning of one answer goes back once, whatever calls it made', async () => {
    answers = [{ reasoning: 'I think about both.', calls: [shell, { name: 'Read', args: { path: 'a.txt' } }] }];
    isFine(await newPeer().turn('hello'));
    expect(provider.requests.at(-1)!.text.split('I think about both.')).toHaveLength(2);
  });

  it('P21: the names of tools are short', async () => {
    isFine(await newPeer().turn('hello'));
    const tools = newest()['tools'] as { function: { name: string } }[];
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.filter(tool => tool.function.name.length > 64)).toEqual([]);
  });

  it('S02: a long command, an empty pattern and an older checkpoint together lose no context', async () => {
    answers = [{ calls: [{ name: 'Glob', args: { glob_pattern: '*.txt' } }] }, { calls: [shell] }];
    const result = { result: { case: 'files', value: { files: ['a.txt'], totalFiles: 1 } } };
    const grepResult = {
      case: 'grepResult',
      value: { result: { case: 'success', value: { workspaceResults: { '/home/dev/project': result } } } },
    };
    const peer = newPeer({ on: { grepArgs: exec => exec.reply(grepResult as never) } });
    const exec = await untilShell(peer);
    const older = peer.checkpoints.at(-1)!.state;
    await beatForLong(exec);
    await exec.auto();
    isFine(await peer.finish());
    const again = await peer.next().turn('and now?', { conversationState: older });
    isFine(again);
    const { text } = provider.requests.at(-1)!;
    for (const part of ['run it', 'a.txt', 'and now?']) expect(text).toContain(part);
  });
});
