import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startHouse, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedBlob, AskedExec, Peer } from '../support/peer.ts';

const THEN = { text: 'done' };
const READ = { name: 'Read', args: { path: 'a.txt' } };
const SHELL = { name: 'Shell', args: { command: 'make test', block_until_ms: 5_000 } };
const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);

describe('a run', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ standing: true });
  });
  afterAll(() => house.close());

  /** Starts a turn; resolves with the exec of this kind, unanswered. */
  async function untilAsked(
    kind: 'readArgs' | 'shellStreamArgs' | 'mcpArgs' | 'requestContextArgs',
    extra: object = {},
  ) {
    const asked = Promise.withResolvers<AskedExec>();
    const peer = house.peer({ on: { [kind]: (exec: AskedExec) => asked.resolve(exec) } });
    await peer.open();
    await peer.run('go', { ...extra });
    return { peer, exec: await asked.promise };
  }
  /** Time in which the client says every twenty seconds that it is still at work. */
  async function beatFor(minutes: number, exec: AskedExec): Promise<void> {
    for (let beat = 0; beat < minutes * 3; beat++) {
      await exec.beat();
      await house.clock.pass(20_000, 10_000);
    }
  }
  const exits = (exec: AskedExec) =>
    exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } });

  it('F1: lives as long as it works when it has its reader, fifty minutes in one tool', async () => {
    const tool = { name: 'zoo-feed', providerIdentifier: 'zoo', toolName: 'feed', description: 'feeds' };
    house.say({ calls: [{ name: 'mcp_zoo_feed', args: {} }] }, THEN);
    const { peer, exec } = await untilAsked('mcpArgs', { mcpTools: { mcpTools: [tool] } });
    peer.workspace.mcp.set('zoo/feed', () => 'it ate');
    await beatFor(50, exec);
    expect([house.server.load.runs, peer.end, peer.all('control.abort')]).toEqual([1, undefined, []]);
    await exec.auto();
    isFine(await peer.finish());
    expect(toolTexts(house.requests[1]!.body)).toEqual(['it ate']);
  });

  it('F38: does not count waiting for leave as time of a command, and a command of twenty minutes lives on', async () => {
    house.say({ calls: [SHELL] }, THEN);
    const { peer, exec } = await untilAsked('shellStreamArgs');
    // nothing has started yet: the person is asked
    await beatFor(20, exec);
    expect([peer.all('control.abort'), peer.all('update.toolCallCompleted')]).toEqual([[], []]);
    await exec.reply({ case: 'shellStream', value: { event: { case: 'start', value: {} } } });
    await exec.reply({ case: 'shellStream', value: { event: { case: 'stdout', value: { data: 'begun\n' } } } });
    await beatFor(20, exec);
    expect([peer.all('control.abort'), peer.all('update.toolCallCompleted')]).toEqual([[], []]);
    await exits(exec);
    isFine(await peer.finish());
    expect(toolTexts(house.requests[1]!.body)).toEqual(['begun\nExit code: 0']);
  });

  it('F74: waits fifty seconds for context and for blobs, with signs of life', async () => {
    house.say(THEN);
    const { peer, exec } = await untilAsked('requestContextArgs');
    const beats = () => peer.all('update.heartbeat').length;
    await house.clock.pass(50_000, 1_000);
    await eventually(() => beats() >= 9, 'heartbeats');
    const held: AskedBlob[] = [];
    peer.onBlob = blob => void held.push(blob);
    expect([peer.all('control.abort'), peer.all('kv.setBlobArgs')]).toEqual([[], []]);
    await exec.auto();
    await peer.until(() => held[0], 'blob');
    const before = beats();
    await house.clock.pass(50_000, 1_000);
    await eventually(() => beats() - before >= 9, 'heartbeats');
    expect([peer.end, house.requests]).toEqual([undefined, []]);
    peer.onBlob = undefined;
    for (const blob of held) await blob.auto();
    isFine(await peer.finish());
    expect(house.requests[0]!.text).toContain('/home/dev/project');
  });

  it('S02: keeps its context through a long command, an empty pattern and an older checkpoint together', async () => {
    house.say({ calls: [{ name: 'Glob', args: { glob_pattern: '*.txt' } }] }, { calls: [SHELL] }, THEN);
    const result = { result: { case: 'files', value: { files: ['found.txt'], totalFiles: 1 } } };
    const patterns: string[] = [];
    const asked = Promise.withResolvers<AskedExec>();
    const peer = house.peer({
      on: {
        grepArgs: exec => {
          patterns.push(exec.args.pattern);
          return exec.reply({
            case: 'grepResult',
            value: { result: { case: 'success', value: { workspaceResults: { '/home/dev/project': result } } } },
          } as never);
        },
        shellStreamArgs: exec => asked.resolve(exec),
      },
    });
    await peer.open();
    await peer.run('run it');
    const exec = await asked.promise;
    const older = peer.checkpoints.at(-1)!.state;
    await beatFor(20, exec);
    await exec.auto();
    isFine(await peer.finish());
    expect(patterns).toEqual(['']);
    house.say(THEN);
    isFine(await peer.next().turn('and now?', { conversationState: older }));
    for (const part of ['run it', 'found.txt', 'and now?']) expect(house.requests[0]!.text).toContain(part);
  });

  type Stage = [when: string, until: (gate: string) => Promise<Peer>];
  const started = async (answer: object, seen: string) => {
    house.say(answer);
    const peer = house.peer();
    await peer.open();
    await peer.run('tell me');
    await peer.wait(seen);
    return peer;
  };
  it.each<Stage>([
    ['asks for context', async () => (await untilAsked('requestContextArgs')).peer],
    ['writes text', gate => started({ events: [{ text: 'once ' }, { gate }, { text: 'upon' }] }, 'update.textDelta')],
    ['thinks', gate => started({ events: [{ reasoning: 'hm ' }, { gate }, { text: 'upon' }] }, 'update.thinkingDelta')],
    [
      'writes arguments',
      gate =>
        started(
          { events: [{ call: { name: 'Read', args: '{"pa' } }, { gate }, { args: 'th":"a"}', index: 0 }] },
          'update.partialToolCall',
        ),
    ],
    [
      'runs a tool',
      async () => {
        house.say({ calls: [READ] }, { text: 'upon' });
        return (await untilAsked('readArgs')).peer;
      },
    ],
    [
      'waits to ask the provider again',
      async () => {
        house.say({ status: { code: 503 } }, { text: 'upon' });
        const reached = house.provider.untilRequests(house.provider.requests.length + 1);
        const peer = house.peer();
        await peer.open();
        await peer.run('tell me');
        await reached;
        return peer;
      },
    ],
  ])('F64: stops at once when it is cancelled while it %s', async (when, until) => {
    house.say();
    const peer = await until(when);
    const asked = [...house.requests];
    expect((await peer.cancel()).status).toBe(200);
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'canceled', retryable: false });
    expect(peer.all('end')).toHaveLength(1);
    house.provider.open(when);
    for (const request of asked) await request.closed;
    await house.clock.pass(30_000, 10_000);
    expect(peer.text).not.toContain('upon');
    expect(house.requests).toHaveLength(asked.length);
    expect(house.server.load.runs).toBe(0);
  });

  it('F5: acknowledges the results of parallel tools before anything is made of them', async () => {
    const calls = Array.from({ length: 12 }, () => ({ name: 'Grep', args: { pattern: 'x' } }));
    house.say({ calls }, THEN);
    const held: AskedBlob[] = [];
    const acknowledged: number[] = [];
    const content = 'x'.repeat(400_000);
    const result = {
      case: 'content',
      value: { matches: [{ file: 'a', matches: [{ lineNumber: 1, content }] }], totalMatchedLines: 1 },
    };
    const peer = house.peer();
    peer.on = {
      grepArgs: async exec => {
        // from now on the run can make no step that the client sees: its blobs stay unanswered
        peer.onBlob = blob => void held.push(blob);
        const { status } = await exec.reply({
          case: 'grepResult',
          value: { result: { case: 'success', value: { workspaceResults: { '/w': { result } } } } },
        } as never);
        acknowledged.push(status);
      },
    };
    await peer.open();
    await peer.run('search');
    await peer.until(() => held[0], 'blob of the settled round');
    await eventually(() => acknowledged.length === 12, 'acknowledgements');
    expect(acknowledged).toEqual(calls.map(() => 200));
    expect(house.requests).toHaveLength(1);
    peer.onBlob = undefined;
    for (const blob of held) await blob.auto();
    isFine(await peer.finish());
  });

  it.each<[string, (at: House) => Promise<Peer>]>([
    ['success', async at => (at.say(THEN), at.peer().turn('hi'))],
    ['an error of the provider', async at => (at.say({ status: { code: 400 } }), at.peer().turn('hi'))],
    [
      'a provider that breaks off',
      async at => (at.say({ events: [{ text: 'x' }, { reset: true }] }), at.peer().turn('hi')),
    ],
    ['an unknown model', async at => at.peer({ model: 'no-such-model' }).turn('hi')],
    [
      'a state that is no state',
      async at => at.peer().turn('hi', { conversationState: { rootPromptMessagesJson: [Buffer.from('{')] } }),
    ],
    ['a run without an action', async at => at.peer().turn('hi', { action: {} })],
    [
      'a blob that is refused',
      async at => {
        at.say(THEN);
        return at
          .peer({
            onBlob: ({ id, reply }) =>
              reply({
                case: 'kvClientMessage',
                value: { id, message: { case: 'setBlobResult', value: { error: { message: 'full' } } } },
              }),
          })
          .turn('hi');
      },
    ],
    [
      'a second run of the conversation',
      async at => {
        at.say({ events: [{ text: 'x' }, { hang: true }] }, THEN);
        const peer = at.peer();
        await peer.open();
        await peer.run('hi');
        await peer.wait('update.textDelta');
        await peer.next().turn('never mind');
        return peer.finish();
      },
    ],
    [
      'silence of the client',
      async at => {
        at.say();
        const peer = at.peer({ onBlob: () => {} });
        await peer.open();
        await peer.run('hi');
        await peer.wait('kv.setBlobArgs');
        await at.clock.pass(70_000, 5_000);
        return peer.finish();
      },
    ],
  ])('F10: has exactly one end frame, the last of all, after %s', async (_how, play) => {
    const peer = await play(house);
    expect(peer.all('end')).toHaveLength(1);
    expect(peer.frames.at(-1)!.key).toBe('end');
    await peer.heartbeat(); // nothing more comes, whatever the client still says
    expect([peer.all('end').length, peer.faults]).toEqual([1, []]);
  });

  it('F10: has its end frame though the server itself fails, amid a turn, and the log says why', async () => {
    let calls = 0;
    const broken = await startHouse({
      identity: {
        uuid: () => crypto.randomUUID(),
        callId: () => {
          if (++calls > 1) throw new RangeError('out of ids');
          return 'call_1';
        },
        random: () => 0.5,
      },
    });
    broken.say({ calls: [READ] }, { calls: [READ] });
    const peer = await broken.peer().turn('read');
    expect(peer.fault).toMatchObject({ code: 'internal', retryable: false });
    expect(peer.fault!.detail).not.toContain('out of ids');
    expect([peer.all('end').length, peer.frames.at(-1)!.key]).toEqual([1, 'end']);
    expect(
      broken.server.log.some(
        ({ level, fields }) => level === 'error' && String((fields['error'] as Error).message).includes('out of ids'),
      ),
    ).toBe(true);
    broken.say(THEN);
    calls = 0;
    isFine(await broken.peer().turn('and now?'));
    await broken.close();
  });
});
