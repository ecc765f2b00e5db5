import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { brokenPrefix } from '../support/sent-messages.ts';

const THEN = { text: 'done' };
const READ = { name: 'Read', args: { path: 'a.txt' } };
const isFine = (peer: Peer) => expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);

describe('what a model thought', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());
  type Sent = { role: string; reasoning_content?: string; tool_calls?: object[] };
  const assistants = () => (house.requests.at(-1)!.body.messages as Sent[]).filter(({ role }) => role === 'assistant');

  it('P06: goes back with its tool calls word for word, and as empty where there was none, in three steps', async () => {
    house.say(
      { reasoning: ['First I ', 'look.\n'], calls: [READ] },
      { calls: [READ] },
      { reasoning: ' Again?', text: 'Once more.', calls: [READ] },
      THEN,
    );
    const peer = await house.peer().turn('look');
    expect(peer.fault).toBeUndefined();
    expect(house.requests).toHaveLength(4);
    expect(assistants().map(message => message.reasoning_content)).toEqual(['First I look.\n', '', ' Again?']);
    for (const { tool_calls } of assistants()) expect(tool_calls).toHaveLength(1);
    expect(brokenPrefix(house.requests)).toBeUndefined();
  });

  it('F79: a history that has turns without a thought stays usable for a provider that demands one on each call', async () => {
    house.say({ reasoning: 'hm', calls: [READ] }, THEN);
    const first = await house.peer().turn('one');
    house.say({ calls: [READ] }, { text: 'done' });
    const second = await first.next().turn('two', { conversationState: first.state });
    house.say({ calls: [READ] }, THEN);
    const third = await second.next().turn('three', { conversationState: second.state });
    expect([first.fault, second.fault, third.fault]).toEqual([undefined, undefined, undefined]);
    const withCalls = assistants().filter(({ tool_calls }) => tool_calls);
    expect(withCalls.map(message => message.reasoning_content)).toEqual(['hm', '', '']);
  });

  it('F80: does not go to another model, and is there again for the one that thought it', async () => {
    house.say({ reasoning: 'a thought of one', calls: [READ] }, THEN);
    const first = await house.peer().turn('one');
    house.say({ reasoning: 'a thought of the other', calls: [READ] }, THEN);
    const second = await first.next({ model: 'blind-model' }).turn('two', { conversationState: first.state });
    expect(house.requests[1]!.body.model).toBe('blind-model');
    expect(house.requests[1]!.text).not.toContain('a thought of one');
    expect(house.requests[1]!.text).toContain('a thought of the other');
    house.say(THEN);
    await second.next({ model: 'test-model' }).turn('three', { conversationState: second.state });
    expect(house.requests[0]!.text).toContain('a thought of one');
    expect(house.requests[0]!.text).not.toContain('a thought of the other');
  });

  it('F83: goes back once, whatever calls the answer made', async () => {
    house.say({ reasoning: 'I think of both.', calls: [READ, { name: 'Ls', args: { path: '.' } }, READ] }, THEN);
    isFine(await house.peer().turn('hello'));
    expect(house.requests[1]!.text.split('I think of both.')).toHaveLength(2);
    expect(assistants()).toHaveLength(1);
    expect(assistants()[0]!.tool_calls).toHaveLength(3);
  });

  it('P29: each checkpoint says how many tokens are used and how many the model takes', async () => {
    house.say({ calls: [READ] }, THEN);
    const peer = await house.peer().turn('hello');
    isFine(peer);
    expect(peer.checkpoints.length).toBeGreaterThanOrEqual(3);
    for (const { state } of peer.checkpoints) {
      expect(state.tokenDetails!.maxTokens).toBe(200_000);
      expect(state.tokenDetails!.usedTokens).toBeGreaterThan(0);
    }
    expect(peer.state.tokenDetails!.usedTokens).toBe(110);
  });
});
