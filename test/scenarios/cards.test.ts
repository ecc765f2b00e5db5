import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMessages } from '../support/graph.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';
import { transports } from '../support/wire.ts';

const READ = { name: 'Read', args: { path: 'a.txt' } };

describe.each(transports)('tool cards over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());

  it('[R21-one-completion] complete once each, in whatever order results come, and are silent afterwards', async () => {
    house.say(
      { calls: [READ, { name: 'Read', args: { path: 'gone.txt' } }, { name: 'Shell', args: { command: 'false' } }] },
      { calls: [READ] },
      { text: 'done' },
    );
    const waiting: (() => Promise<void>)[] = [];
    const peer = house.peer({
      on: {
        readArgs: exec => {
          if (waiting.length === 2) return exec.auto();
          waiting.push(() => exec.auto());
          return waiting.length < 2 ? undefined : waiting[1]!().then(waiting[0]);
        },
      },
    });
    peer.workspace.commands.set('false', { stdout: 'no\n', code: 1 });
    await peer.turn('do it all');
    const cards = cardsOf(peer);
    expect(cards).toHaveLength(4);
    for (const card of cards) {
      expect([card.started.length, card.completed.length]).toEqual([1, 1]);
      expect(card.events.at(-1)).toBe(card.completed[0]);
    }
    // the shell's output came as a delta before, and all cards have their results
    expect(cards.map(card => resultOf(card)?.case)).toEqual(['success', 'error', 'failure', 'success']);
    expect(peer.faults).toEqual([]);
  });

  it('[R21-cancel-closes-cards] are closed with an error before the end when the client cancels', async () => {
    house.say({ calls: [READ, { name: 'Shell', args: { command: 'sleep' } }] });
    const peer = house.peer({ on: { readArgs: () => {}, shellStreamArgs: () => {} } });
    await peer.open();
    await peer.run('wait');
    await peer.wait('exec.readArgs');
    await peer.wait('exec.shellStreamArgs');
    await peer.cancel();
    await peer.finish();
    expect(peer.fault?.code).toBe('canceled');
    const cards = cardsOf(peer);
    expect(cards.map(card => card.completed.length)).toEqual([1, 1]);
    expect(cards.map(card => resultOf(card)?.case)).toEqual(['error', 'spawnError']);
    for (const card of cards) expect(card.completed[0]!.index).toBeLessThan(peer.end!.index);
  });

  it('[R21-cancel-closes-cards] F28: cards are closed with an error when the provider breaks off amid the arguments, and no history has the call', async () => {
    const half = '{"path":"b.txt","contents":"half a fi';
    house.say({
      events: [{ text: 'I write it.' }, { call: { id: 'c1', name: 'Write', args: half } }, { reset: true }],
    });
    const peer = await house.peer().turn('write');
    const [card] = cardsOf(peer);
    expect(card!.events.map(({ event }) => event)).toEqual(['partialToolCall', 'partialToolCall', 'toolCallCompleted']);
    expect(resultOf(card!)?.case).toBe('error');
    expect(card!.completed[0]!.index).toBeLessThan(peer.end!.index);
    expect(peer.fault?.code).toBe('unavailable');
    expect(peer.execs.map(exec => exec.message.case)).toEqual(['requestContextArgs']);
    expect(peer.state.pendingToolCalls).toEqual([]);
    expect(JSON.stringify(rootMessages(peer.state, peer.blobs))).not.toContain('tool-call');
  });
});

describe('a tool card', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[R22-card-timestamps] has arguments, a typed result, and both its times when it is complete', async () => {
    const before = BigInt(Date.now());
    house.say(
      { calls: [READ, { name: 'Shell', args: { command: 'ls' } }, { name: 'Ls', args: { path: '.' } }] },
      { text: 'done' },
    );
    const peer = await house.peer().turn('look');
    const cards = cardsOf(peer);
    expect(cards.map(card => card.completed[0]!.toolCall!.tool.case)).toEqual([
      'readToolCall',
      'shellToolCall',
      'lsToolCall',
    ]);
    for (const card of cards) {
      const { startedAtMs, completedAtMs, tool, toolCallId } = card.completed[0]!.toolCall!;
      expect(card.started[0]!.toolCall!.startedAtMs).toBe(startedAtMs);
      expect(startedAtMs! >= before && completedAtMs! >= startedAtMs! && completedAtMs! <= BigInt(Date.now())).toBe(
        true,
      );
      expect((tool.value as { args?: object }).args).toBeDefined();
      expect(resultOf(card)?.case).toBe('success');
      expect(toolCallId).toBe(card.callId);
    }
  });

  it('[R23-args-delta-appends] is given argument text that joins to what the model wrote, byte for byte', async () => {
    const written = '{ "path" :"b.txt",\n  "contents": "eins \\"zwei\\" 😀 drei\\n" }';
    const pieces = Array.from({ length: Math.ceil(written.length / 5) }, (_, at) => written.slice(at * 5, at * 5 + 5));
    const events = [{ call: { id: 'c1', name: 'Write' } }, ...pieces.map(args => ({ args, index: 0 }))];
    house.say({ events }, { text: 'done' });
    const peer = await house.peer().turn('write');
    const [card] = cardsOf(peer);
    const partials = card!.events.filter(({ event }) => event === 'partialToolCall');
    expect(partials.map(({ argsTextDelta }) => argsTextDelta).join('')).toBe(written);
    expect(partials.length).toBeGreaterThan(5);
    expect(partials[0]!.argsTextDelta).toBe('');
    expect(partials.at(-1)!.index).toBeLessThan(card!.started[0]!.index);
    expect(peer.workspace.files.get('b.txt')).toBe('eins "zwei" 😀 drei\n');
  });

  it.each([
    ['in two pieces', { calls: [{ name: 'Grep', args: { pattern: 'hi', path: 'src', '-i': true } }] }],
    [
      'in the last event alone',
      { events: [{ call: { name: 'Grep' } }, { args: '{"pattern":"hi","path":"src","-i":true}', index: 0 }] },
    ],
    ['at once', { events: [{ call: { name: 'Grep', args: '{"pattern":"hi","path":"src","-i":true}' } }] }],
  ])('[R23-started-has-all-args] starts with all arguments when they came %s', async (_how, answer) => {
    house.say(answer, { text: 'done' });
    const peer = house.peer({
      on: {
        grepArgs: exec =>
          exec.reply({ case: 'grepResult', value: { result: { case: 'error', value: { error: 'no' } } } }),
      },
    });
    await peer.turn('search');
    const [card] = cardsOf(peer);
    for (const at of [card!.started, card!.completed]) {
      expect(at[0]!.toolCall!.tool).toMatchObject({
        case: 'grepToolCall',
        value: { args: { pattern: 'hi', path: '/home/dev/project/src', caseInsensitive: true } },
      });
    }
    const started = peer.frames.findIndex(frame => frame.key === 'update.toolCallStarted');
    expect(started).toBeLessThan(peer.frames.findIndex(frame => frame.key === 'exec.grepArgs'));
  });

  it('[R24-model-call-id-per-call] keeps its call_id, and shares its model_call_id with the other calls of its answer alone', async () => {
    house.say({ calls: [READ, { name: 'Ls', args: { path: '.' } }] }, { calls: [READ] }, { text: 'done' });
    const peer = await house.peer().turn('look');
    const cards = cardsOf(peer);
    expect(new Set(cards.map(card => card.callId)).size).toBe(3);
    const perCard = cards.map(card => [...new Set(card.events.map(({ modelCallId }) => modelCallId))]);
    expect(perCard.map(ids => ids.length)).toEqual([1, 1, 1]);
    const [first, second, third] = perCard.map(ids => ids[0]);
    expect(first).toMatch(/\S/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    for (const card of cards)
      expect(card.events.map(({ event }) => event)).toEqual([
        'partialToolCall',
        'partialToolCall',
        'partialToolCall',
        'toolCallStarted',
        'toolCallCompleted',
      ]);
  });

  it('[R24-provider-ids-mapped] has an id of ours whatever the provider calls it, and the provider gets its own back', async () => {
    const long = 'x'.repeat(100);
    const ids = ['', 'same', 'same', long, 'fine_1'];
    house.say({ calls: ids.map(id => ({ ...READ, id })) }, { text: 'done' });
    const peer = await house.peer().turn('read five times');
    const cards = cardsOf(peer);
    expect(cards).toHaveLength(5);
    expect(new Set(cards.map(card => card.callId)).size).toBe(5);
    for (const { callId } of cards) expect(callId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const { messages } = house.requests[1]!.body;
    const sent = messages.find(message => message.tool_calls)!.tool_calls!.map(call => call.id);
    expect(sent).toEqual([cards[0]!.callId, cards[1]!.callId, cards[2]!.callId, long, 'fine_1']);
    expect(messages.filter(message => message.role === 'tool').map(message => message['tool_call_id'])).toEqual(sent);
  });
});
