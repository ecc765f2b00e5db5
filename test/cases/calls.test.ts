import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHouse, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedExec, Peer } from '../support/peer.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';

const THEN = { text: 'done' };
const read = (path: string, more: object = {}) => ({ name: 'Read', args: { path }, ...more });
const shell = (command: string) => ({ name: 'Shell', args: { command } });
const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);

describe('the calls of a model', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  /** A turn whose execs stay unanswered; resolves once there are so many. */
  async function holdExecs(count: number): Promise<{ peer: Peer; held: AskedExec[] }> {
    const held: AskedExec[] = [];
    const all = Promise.withResolvers<void>();
    const hold = (exec: AskedExec) => {
      held.push(exec);
      if (held.length === count) all.resolve();
    };
    const peer = house.peer({ on: { readArgs: hold, shellStreamArgs: hold } });
    for (const name of ['a', 'b', 'c']) peer.workspace.files.set(`${name}.txt`, `text of ${name}`);
    await peer.open();
    await peer.run('go');
    await all.promise;
    return { peer, held };
  }
  const completedPaths = (peer: Peer) =>
    peer.updates('toolCallCompleted').map(({ callId, toolCall }) => {
      const { args, result } = toolCall!.tool.value as any;
      return [callId, args.path, result.result.value.output.value];
    });

  it('X09: a completion closes the card of its own call id, while the others stay open', async () => {
    house.say({ calls: ['a.txt', 'b.txt', 'c.txt'].map(path => read(path)) }, THEN);
    const { peer, held } = await holdExecs(3);
    const started = new Map(
      peer.updates('toolCallStarted').map(({ callId, toolCall }) => [(toolCall!.tool.value as any).args.path, callId]),
    );
    for (const [at, exec] of [held[1]!, held[2]!, held[0]!].entries()) {
      await exec.auto();
      await peer.until(() => peer.all('update.toolCallCompleted')[at], `completion ${at}`);
      const [callId, path, text] = completedPaths(peer)[at]!;
      expect(path).toBe(exec.args.path);
      expect(callId).toBe(started.get(path));
      expect(text).toBe(`text of ${path.at(-5)}`);
      expect(peer.all('update.toolCallCompleted')).toHaveLength(at + 1);
    }
    isFine(await peer.finish());
  });

  it('X11: ids with line ends and colons reach no client, and the provider gets its own back', async () => {
    const ids = ['a\nb:c', 'call|1\r\nitem_2', '函数:0'];
    house.say({ calls: ids.map(id => read('a.txt', { id })) }, THEN);
    const peer = await house.peer().turn('read');
    isFine(peer);
    const cards = cardsOf(peer);
    expect(cards).toHaveLength(3);
    for (const { callId } of cards) expect(callId).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const asked = peer.execs.flatMap(({ message }) => (message.case === 'readArgs' ? [message.value.toolCallId] : []));
    expect(asked).toEqual(cards.map(({ callId }) => callId));
    const { messages } = house.requests[1]!.body;
    expect(messages.find(({ tool_calls }) => tool_calls)!.tool_calls!.map(({ id }) => id)).toEqual(ids);
    expect(messages.filter(({ role }) => role === 'tool').map(message => message['tool_call_id'])).toEqual(ids);
  });

  it('X12: a turn goes on until all execs were answered, though the model said stop beside its calls', async () => {
    house.say({ text: 'I look. ', calls: [read('a.txt'), shell('make')], finish: 'stop' }, THEN);
    const { peer, held } = await holdExecs(2);
    for (const { toolCall } of peer.updates('toolCallStarted')) {
      const { args } = toolCall!.tool.value as any;
      expect(args.path ?? args.command).toMatch(/^(\/home\/dev\/project\/a\.txt|make)$/);
    }
    await held[1]!.auto();
    await peer.wait('update.toolCallCompleted');
    await peer.heartbeat();
    expect([house.requests.length, peer.all('update.turnEnded'), peer.end]).toEqual([1, [], undefined]);
    await held[0]!.auto();
    await peer.finish();
    expect(house.requests).toHaveLength(2);
    expect(toolTexts(house.requests[1]!.body)).toHaveLength(2);
    expect(peer.order.slice(-2)).toEqual(['update.turnEnded', 'end']);
  });

  it('F25: a completed card can be opened, and text after the tools is shown while it is written', async () => {
    house.say({ calls: [read('a.txt')] }, { events: [{ text: 'It ' }, { gate: 'F25' }, { text: 'says hi.' }] });
    const peer = house.peer();
    await peer.open();
    await peer.run('read it');
    await peer.wait('update.textDelta');
    const [card] = cardsOf(peer);
    expect(card!.completed[0]!.toolCall!.tool).toMatchObject({
      case: 'readToolCall',
      value: { args: { path: '/home/dev/project/a.txt' } },
    });
    expect(resultOf(card!)).toMatchObject({ case: 'success', value: { output: { value: 'hi file\nsecond line\n' } } });
    expect(peer.text).toBe('It ');
    house.provider.open('F25');
    await peer.finish();
    expect([peer.fault, peer.text]).toEqual([undefined, 'It says hi.']);
  });

  it('F26: nothing that a command says after its end is shown on its card', async () => {
    house.say({ calls: [shell('make'), read('a.txt')] }, THEN);
    const { peer, held } = await holdExecs(2);
    const ofShell = held.find(({ kind }) => kind === 'shellStreamArgs')!;
    const event = (value: object) => ofShell.reply({ case: 'shellStream', value: { event: value as never } });
    await event({ case: 'stdout', value: { data: 'in time\n' } });
    await event({ case: 'exit', value: { code: 0 } });
    await peer.wait('update.toolCallCompleted');
    await event({ case: 'stdout', value: { data: 'too late\n' } });
    await event({ case: 'exit', value: { code: 7 } });
    await ofShell.close();
    await held.find(({ kind }) => kind === 'readArgs')!.auto();
    isFine(await peer.finish());
    const [card] = cardsOf(peer).filter(({ completed }) => completed[0]!.toolCall!.tool.case === 'shellToolCall');
    expect(card!.completed).toHaveLength(1);
    expect(card!.events.at(-1)).toBe(card!.completed[0]);
    expect(card!.events.filter(({ event: name }) => name === 'toolCallDelta')).toHaveLength(1);
    expect(house.requests[1]!.text).not.toContain('too late');
  });

  it('F29: a provider that gives every call the same id wedges nothing, round after round', async () => {
    house.say(
      ...['a.txt', 'b.txt', 'c.txt'].map(path => ({ calls: [read(path, { id: 'call_0' })] })),
      { calls: [read('a.txt', { id: 'call_0' }), read('b.txt', { id: 'call_0', index: 5 })] },
      THEN,
    );
    const peer = house.peer();
    for (const name of ['a', 'b', 'c']) peer.workspace.files.set(`${name}.txt`, `text of ${name}`);
    await peer.turn('read');
    isFine(peer);
    expect(new Set(cardsOf(peer).map(({ callId }) => callId)).size).toBe(5);
    for (const { started, completed } of cardsOf(peer)) expect([started.length, completed.length]).toEqual([1, 1]);
    expect(toolTexts(house.requests[4]!.body)).toEqual(['a', 'b', 'c', 'a', 'b'].map(name => `1|text of ${name}`));
  });

  const whole = (args: string) =>
    `data: ${JSON.stringify({
      choices: [
        {
          index: 0,
          delta: {},
          message: { content: null, tool_calls: [{ id: 'c1', function: { name: 'Read', arguments: args } }] },
          finish_reason: 'tool_calls',
        },
      ],
    })}\n\n`;
  it.each([
    ['no delta came before', []],
    ['deltas gave the name alone', [{ call: { id: 'c1', name: 'Read' } }]],
    ['deltas gave a part of them', [{ call: { id: 'c1', name: 'Read', args: '{"path":"b.' } }]],
    ['deltas gave them all', [{ call: { id: 'c1', name: 'Read', args: '{"path":"b.txt"}' } }]],
  ])('F31: the arguments of the last event count when %s', async (_what, events) => {
    house.say({ events: [...events, { raw: whole('{"path":"b.txt"}') }], finish: null }, THEN);
    const peer = house.peer();
    peer.workspace.files.set('b.txt', 'text of b');
    await peer.turn('read');
    isFine(peer);
    const [card, ...more] = cardsOf(peer);
    expect(more).toEqual([]);
    expect(card!.started[0]!.toolCall!.tool).toMatchObject({ value: { args: { path: '/home/dev/project/b.txt' } } });
    expect(toolTexts(house.requests[1]!.body)).toEqual(['1|text of b']);
  });
});
