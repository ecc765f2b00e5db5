import type { ConversationStateStructure, ToolCall } from '@tandem/protocol/agent';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs, rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { brokenPrefix } from '../support/sent-messages.ts';
import { Workspace } from '../support/workspace.ts';

const read = (path: string) => ({ name: 'Read', args: { path } });
const shell = (command: string) => ({ name: 'Shell', args: { command } });
const jsonBlob = (value: unknown) => Buffer.from(JSON.stringify(value));
/** The checkpoint of a tool round that has not settled. */
const staged = (peer: Peer): ConversationStateStructure =>
  peer.checkpoints.findLast(({ state }) => state.pendingToolCalls.length > 0)!.state;
const execKinds = (peer: Peer) =>
  peer.execs.map(({ message }) => message.case).filter(kind => kind !== 'requestContextArgs');

describe('a run that goes on', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ standing: true });
  });
  afterAll(() => house.close());

  /** A round of two calls of which only the first is answered; the client leaves in the middle. */
  async function brokenRound(
    first: object,
    second: object,
    workspace = new Workspace({ 'b.txt': 'text of b\n' }),
  ): Promise<Peer> {
    house.say({ text: 'I look twice.', calls: [first, second] as never });
    let answered = 0;
    let done = () => {};
    const firstDone = new Promise<void>(resolve => (done = resolve));
    const once = async (exec: { auto(): Promise<void> }) => {
      if (answered++ > 0) return;
      await exec.auto(); // resolves when the append was acknowledged, so the ledger has it
      done();
    };
    const peer = house.peer({ workspace, on: { readArgs: once, shellStreamArgs: once } });
    await peer.open();
    await peer.run('look twice');
    await firstDone;
    await peer.until(() => (execKinds(peer).length === 2 ? true : undefined), 'two execs');
    return peer;
  }

  /** What the same client does next: a new request of the same run that names the one it replaces. */
  const retryOf = (peer: Peer, more = {}) =>
    peer.next({ runId: peer.runId, headers: { 'x-original-request-id': peer.requestId }, ...more });

  it('[R48-pending-filled] has its pending message with startedAtMs in the staged checkpoint, and reads back those of others', async () => {
    const peer = await brokenRound(read('a.txt'), read('b.txt'));
    const [entry, ...more] = staged(peer).pendingToolCalls;
    expect(more).toEqual([]);
    expect(JSON.parse(entry!)).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look twice.' },
        expect.objectContaining({ type: 'tool-call', toolName: 'Read', args: { path: 'a.txt' } }),
        expect.objectContaining({ type: 'tool-call', toolName: 'Read', args: { path: 'b.txt' } }),
      ],
      startedAtMs: house.clock.now(),
    });
    await peer.cancel();
    await peer.finish();

    const foreign = [
      JSON.stringify({ toolCallId: 'other-1', toolName: 'Read', args: { path: 'a.txt' } }),
      JSON.stringify({ toolCallId: 'other-2', toolName: 'Read', args: { path: 'b.txt' } }),
    ];
    house.say({ text: 'both read' });
    const rootPromptMessagesJson = [
      jsonBlob({ role: 'system', content: 'Be brief.' }),
      jsonBlob({ role: 'user', content: 'look' }),
    ];
    const other = house.peer({ workspace: new Workspace({ 'b.txt': 'text of b\n' }) });
    await other.open();
    await other.resume({ rootPromptMessagesJson, pendingToolCalls: foreign } as never);
    await other.finish();
    expect(other.fault).toBeUndefined();
    expect(other.workspace.done.sort()).toEqual(['read a.txt', 'read b.txt']);
    expect(toolTexts(house.requests[0]!.body).map(text => /hi file|text of b/.exec(text)?.[0])).toEqual([
      'hi file',
      'text of b',
    ]);

    // what nobody can read is told as interrupted and keeps nothing from going on
    house.say({ text: 'ok' });
    const strange = house.peer();
    await strange.open();
    await strange.resume({ rootPromptMessagesJson, pendingToolCalls: ['<call>?</call>'] } as never);
    await strange.finish();
    expect(strange.fault).toBeUndefined();
    expect(strange.workspace.done).toEqual([]);
    expect(textsOf(house.requests[0]!.body, 'user').at(-1)).toContain('interrupted');
    expect(strange.state.pendingToolCalls).toEqual([]);
  });

  it('[R48-resume-runs-pending] runs what is pending before it asks the model, also on a server that never saw it', async () => {
    const peer = await brokenRound(read('a.txt'), shell('make'));
    const state = staged(peer);
    await peer.cancel();
    await peer.finish();
    const stranger = await startHouse({ standing: true });
    try {
      stranger.say({ text: 'both done' });
      const retry = retryOf(peer, { url: stranger.server.url, workspace: new Workspace() });
      retry.on = {
        readArgs: exec => {
          expect(stranger.requests).toEqual([]);
          return exec.auto();
        },
      };
      await retry.open();
      await retry.resume(state);
      await retry.finish();
      expect(retry.fault).toBeUndefined();
      expect(retry.workspace.done.sort()).toEqual(['read a.txt', 'shell make']);
      expect(toolTexts(stranger.requests[0]!.body)).toHaveLength(2);
      expect(retry.updates('toolCallStarted')).toHaveLength(2);
      expect(retry.updates('toolCallCompleted')).toHaveLength(2);
      const messages = rootMessages(retry.state, retry.blobs);
      expect(messages.slice(-3).map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
      expect(retry.state.turns).toHaveLength(1);
      expect(reachableBlobs(retry.state, retry.blobs).missing).toEqual([]);
      expect(retry.faults).toEqual([]);
    } finally {
      await stranger.close();
    }
  });

  // S16
  it('[R48-never-issued-again] asks again neither what the ledger has nor what the history has', async () => {
    const workspace = new Workspace({ 'b.txt': 'text of b\n' });
    workspace.commands.set('make', { stdout: 'made it\n', code: 3 });
    const peer = await brokenRound(shell('make'), read('b.txt'), workspace);
    expect(workspace.done).toEqual(['shell make']);
    house.say({ text: 'both done' });
    const retry = retryOf(peer);
    await retry.open();
    await retry.resume(staged(peer));
    await retry.finish();
    expect(retry.fault).toBeUndefined();
    expect(workspace.done).toEqual(['shell make', 'read b.txt']);
    expect(execKinds(retry)).toEqual(['readArgs']);
    const [ofShell, ofRead] = toolTexts(house.requests[0]!.body);
    expect(ofShell).toContain('made it');
    expect(ofShell).toContain('3');
    expect(ofRead).toContain('text of b');
    // the card of a replayed call is as whole as one of a call that ran now
    const cards = retry.updates('toolCallCompleted').map(({ toolCall }) => toolCall as ToolCall);
    expect(cards.map(({ tool }) => tool.case).sort()).toEqual(['readToolCall', 'shellToolCall']);
    expect(
      inspect(
        cards.find(({ tool }) => tool.case === 'shellToolCall'),
        { depth: 9 },
      ),
    ).toContain('made it');
    // the older attempt was told that it is over, not that it may come again (R15)
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'failed_precondition', retryable: false });

    house.say({ text: 'once more' });
    const again = retry.next();
    await again.open();
    await again.resume(retry.checkpoints.find(({ state }) => state.pendingToolCalls.length === 0)!.state);
    await again.finish();
    expect(again.fault).toBeUndefined();
    expect(execKinds(again)).toEqual([]);
    expect(workspace.done).toEqual(['shell make', 'read b.txt']);
  });

  it('does not take the answer of one call for another that reads like it', async () => {
    const peer = await brokenRound(read('a.txt'), read('b.txt'));
    const [entry] = staged(peer).pendingToolCalls;
    // the same call id with other arguments: an older answer must not fit
    const changed = entry!.replace('"path":"a.txt"', '"path":"b.txt"');
    house.say({ text: 'done' });
    const retry = retryOf(peer);
    await retry.open();
    await retry.resume({ ...staged(peer), pendingToolCalls: [changed] });
    await retry.finish();
    expect(retry.fault).toBeUndefined();
    expect(execKinds(retry)).toEqual(['readArgs', 'readArgs']);
    expect(toolTexts(house.requests[0]!.body).join()).not.toContain('hi file');
  });

  it('does not mix what a command said to an attempt that died with what it said to the next', async () => {
    house.say({ calls: [shell('make'), read('b.txt')] });
    const workspace = new Workspace({ 'b.txt': 'text of b\n' });
    const first = house.peer({
      workspace,
      on: {
        readArgs: () => {}, // never answered, so the round stays open in every attempt
        shellStreamArgs: async exec => {
          await exec.reply({ case: 'shellStream', value: { event: { case: 'start', value: {} } } });
          await exec.reply({
            case: 'shellStream',
            value: { event: { case: 'stdout', value: { data: 'half of it\n' } } },
          });
        },
      },
    });
    await first.open();
    await first.run('make it');
    await first.until(
      () => (first.sent.filter(({ message }) => message?.case === 'execClientMessage').length >= 3 ? true : undefined),
      'half of the output',
    );
    await first.heartbeat(); // answered after everything sent before it
    const state = staged(first);

    let done = () => {};
    const shellDone = new Promise<void>(resolve => (done = resolve));
    workspace.commands.set('make', { stdout: 'all of it\n' });
    const second: Peer = retryOf(first, {
      on: {
        readArgs: () => {},
        shellStreamArgs: async (exec: { auto(): Promise<void> }) => {
          // numbers beyond those of the first attempt, so that order alone does not tell the two apart
          for (let beat = 0; beat < 20; beat++) await second.heartbeat();
          await exec.auto();
          done();
        },
      },
    });
    await second.open();
    await second.resume(state);
    await shellDone;

    house.say({ text: 'made' });
    const third = retryOf(second);
    await third.open();
    await third.resume(state);
    await third.finish();
    expect(third.fault).toBeUndefined();
    expect(workspace.done).toEqual(['shell make', 'read b.txt']);
    const [ofShell] = toolTexts(house.requests[0]!.body);
    expect(ofShell).toContain('all of it');
    expect(ofShell).not.toContain('half of it');
  });

  it('[R48-new-message-interrupts] closes what is pending as interrupted when a new message comes instead, keeping what had a result', async () => {
    const peer = await brokenRound(read('a.txt'), read('b.txt'));
    house.say({ text: 'fine' });
    const next = peer.next();
    await next.turn('never mind', { conversationState: staged(peer) });
    expect(next.fault).toBeUndefined();
    expect(execKinds(next)).toEqual([]);
    const [first, second] = toolTexts(house.requests[0]!.body);
    expect(first).toContain('hi file');
    expect(second).toContain('interrupted');
    expect(textsOf(house.requests[0]!.body, 'user').at(-1)).toBe('never mind');
    expect(next.state.pendingToolCalls).toEqual([]);
    expect(next.state.turns).toHaveLength(2);
    expect(reachableBlobs(next.state, next.blobs).missing).toEqual([]);
    await peer.finish();
  });

  it('[R49-resume-continues] F65: a resume goes on after the last finished step and repeats none; a turn that was over only ends', async () => {
    house.say({ text: 'I look.', calls: [read('a.txt')] }, { text: 'hi, it says', gate: 'never' });
    const peer = house.peer();
    await peer.open();
    await peer.run('look');
    await house.provider.untilWaiting('never');
    const settled = peer.state;
    expect(settled.pendingToolCalls).toEqual([]);
    peer.drop();
    const before = [...house.requests];

    house.say({ text: 'hi, it says' });
    const retry = retryOf(peer);
    await retry.open();
    await retry.resume(settled);
    await retry.finish();
    expect(retry.fault).toBeUndefined();
    expect(retry.workspace.done).toEqual(['read a.txt']);
    expect(execKinds(retry)).toEqual([]);
    expect(retry.text).toBe('hi, it says');
    expect(retry.updates('toolCallStarted')).toEqual([]);
    expect(house.requests).toHaveLength(1);
    expect(JSON.stringify(house.requests[0]!.body.messages)).toBe(JSON.stringify(before.at(-1)!.body.messages));
    expect(brokenPrefix([...before, ...house.requests])).toBeUndefined();
    expect(retry.state.turns).toHaveLength(1);

    house.say();
    const over = retry.next();
    await over.open();
    await over.resume(retry.state);
    await over.finish();
    expect(over.fault).toBeUndefined();
    expect(over.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
    expect(house.requests).toEqual([]);
    expect(over.state.rootPromptMessagesJson).toEqual(retry.state.rootPromptMessagesJson);
  });

  it('is refused in clear words when there is nothing to go on from', async () => {
    house.say();
    const peer = house.peer();
    await peer.open();
    await peer.resume({} as never);
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'invalid_argument', retryable: false });
    expect(peer.fault!.detail).toContain('user_message_action');
  });
});
