import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { blobKey } from '@tandem/protocol';
import {
  ConversationStateStructureSchema,
  ConversationStepSchema,
  ConversationTurnStructureSchema,
  TodoItemSchema,
  TodoStatus,
  UserMessageSchema,
} from '@tandem/protocol/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reachableBlobs, rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Peer } from '../support/peer.ts';
import { brokenPrefix, sentMessages } from '../support/sent-messages.ts';

const READ = { name: 'Read', args: { path: 'a.txt' } };
const jsonBlob = (value: unknown) => Buffer.from(JSON.stringify(value));
const blobOf = (peer: Peer, id: Uint8Array) => peer.blobs.get(blobKey(id))!;

describe('the state of a conversation', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  /** A turn with one read, and its last checkpoint. */
  async function turnWithRead(text: string, peer = house.peer(), extra = {}): Promise<Peer> {
    house.say({ reasoning: 'hm', text: 'I look.', calls: [READ] }, { text: `answer to ${text}` });
    await peer.turn(text, extra);
    expect(peer.fault).toBeUndefined();
    return peer;
  }

  it('[§21-state-both-ways] yields the same history when the next run brings it back', async () => {
    const first = await turnWithRead('one');
    const before = house.requests.at(-1)!;
    house.say({ text: 'two' });
    const second = await first.next().turn('two', { conversationState: first.state });
    const [after] = house.requests;
    expect(sentMessages(after!).startsWith(sentMessages(before))).toBe(true);
    expect(after!.body.messages.slice(before.body.messages.length)).toEqual([
      { role: 'assistant', content: 'answer to one' },
      { role: 'user', content: 'two' },
    ]);
    expect(second.state.rootPromptMessagesJson.slice(0, first.state.rootPromptMessagesJson.length)).toEqual(
      first.state.rootPromptMessagesJson,
    );
    expect(second.state.turns.slice(0, 1)).toEqual(first.state.turns);
  });

  it('[§21-foreign-fields-kept] comes back with what the server does not use, unknown fields included', async () => {
    house.say({ text: 'ok' });
    const brought = create(ConversationStateStructureSchema, {
      selfSummaryCount: 3,
      activeBranchName: 'topic',
      readPaths: ['/home/dev/project/a.txt'],
      subagentThreads: { explore: 'thread-1' },
      durableSkillBlocks: ['block'],
      messageCountAtLastCompaction: 7,
      recentUserMessageIds: ['m-1'],
    });
    brought.$unknown = [{ no: 9_000, wireType: 2, data: Uint8Array.of(2, 0x68, 0x69) }];
    const peer = await house.peer().turn('hello', { conversationState: brought });
    expect(peer.fault).toBeUndefined();
    for (const { state } of peer.checkpoints) {
      expect(state).toMatchObject({
        selfSummaryCount: 3,
        activeBranchName: 'topic',
        readPaths: ['/home/dev/project/a.txt'],
        subagentThreads: { explore: 'thread-1' },
        durableSkillBlocks: ['block'],
        messageCountAtLastCompaction: 7,
        recentUserMessageIds: ['m-1'],
      });
      expect(state.$unknown).toMatchObject([{ no: 9_000, data: Uint8Array.of(2, 0x68, 0x69) }]);
    }
  });

  it('[§23-presence-kept] tells an optional field that is empty from one that is absent', async () => {
    for (const activeBranchName of ['', undefined]) {
      house.say({ text: 'ok' });
      const set = activeBranchName === undefined ? {} : { activeBranchName, isRootProjectConversation: false };
      const brought = create(ConversationStateStructureSchema, set);
      const peer = await house.peer().turn('hello', { conversationState: brought });
      expect(peer.state.activeBranchName).toBe(activeBranchName);
      expect(peer.state.isRootProjectConversation).toBe(activeBranchName === undefined ? undefined : false);
      // active_branch_name is field 19: tag 0x9a 0x01, here with length 0
      const bytes = Buffer.from(toBinary(ConversationStateStructureSchema, peer.state));
      expect(bytes.includes(Buffer.of(0x9a, 0x01, 0x00))).toBe(activeBranchName === '');
    }
  });

  it('[R45-client-state-decides] is what the client brings: an older one rolls back, and a server that never saw it goes on from it', async () => {
    const first = await turnWithRead('one');
    const second = await turnWithRead('two', first.next(), { conversationState: first.state });
    house.say({ text: 'other two' });
    await second.next().turn('two, but otherwise', { conversationState: first.state });
    expect(textsOf(house.requests[0]!.body, 'user').slice(-2)).toEqual(['one', 'two, but otherwise']);
    expect(toolTexts(house.requests[0]!.body)).toHaveLength(1);

    const stranger = await startHouse();
    try {
      stranger.say({ text: 'three' });
      const third = await second.next({ url: stranger.server.url }).turn('three', { conversationState: second.state });
      expect(third.fault).toBeUndefined();
      expect(textsOf(stranger.requests[0]!.body, 'user').slice(-3)).toEqual(['one', 'two', 'three']);
      expect(toolTexts(stranger.requests[0]!.body)).toHaveLength(2);
    } finally {
      await stranger.close();
    }
  });

  it('[R46-roots-are-json-messages] holds one JSON model message a root, the system prompt first', async () => {
    const peer = await turnWithRead('one');
    for (const id of peer.state.rootPromptMessagesJson) expect(id).toHaveLength(32);
    const messages = rootMessages(peer.state, peer.blobs);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant', 'tool', 'assistant']);
    expect(messages[0]!.content).toContain('You are');
    const [call, result, last] = messages.slice(-3);
    expect(call!.content).toMatchObject([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolName: 'Read', args: { path: 'a.txt' } },
    ]);
    const { toolCallId } = (call!.content as { toolCallId: string }[])[2]!;
    expect(result!.content).toMatchObject([
      { type: 'tool-result', toolCallId, toolName: 'Read', result: expect.stringContaining('hi file') },
    ]);
    expect(last!.content).toEqual([{ type: 'text', text: 'answer to one' }]);
  });

  it('[R46-reads-older-forms] reads input, output, mimeType and bare images of others, and keeps parts that it does not know', async () => {
    const image = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
    const foreign = [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', image, mimeType: 'image/png' },
          { type: 'hologram', depth: 3 },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'call-a', toolName: 'Read', input: { path: 'b.txt', limit: 3 } }],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call-a', toolName: 'Read', output: { type: 'text', value: 'text of b' } },
        ],
      },
      { role: 'assistant', content: 'It is b.' },
    ];
    house.say({ text: 'ok' });
    const roots = foreign.map(jsonBlob);
    const peer = await house.peer().turn('and now?', { conversationState: { rootPromptMessagesJson: roots } });
    expect(peer.fault).toBeUndefined();
    const { messages } = house.requests[0]!.body;
    expect(messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(JSON.stringify(messages[1])).toContain(`data:image/png;base64,${image}`);
    const call = messages[2]!.tool_calls![0]!;
    expect(call.function.name).toBe('Read');
    expect(JSON.parse(call.function.arguments)).toEqual({ path: 'b.txt', limit: 3 });
    expect(messages[3]).toMatchObject({ role: 'tool', tool_call_id: call.id, content: 'text of b' });
    expect(messages[4]).toMatchObject({ role: 'assistant', content: 'It is b.' });
    // what was read is not rewritten: the roots are the very bytes that came
    expect(peer.state.rootPromptMessagesJson.slice(0, 5).map(id => blobOf(peer, id))).toEqual(
      roots.map(one => Uint8Array.from(one)),
    );
  });

  it('[R46-turns-beside-roots] has the user message and the steps of each turn beside the roots', async () => {
    const first = await turnWithRead('one');
    house.say({ text: 'short' });
    const peer = await first.next().turn('two', { conversationState: first.state }, { messageId: 'm-2' });
    const turns = peer.state.turns.map(id => fromBinary(ConversationTurnStructureSchema, blobOf(peer, id)).turn);
    expect(turns.map(turn => turn.case)).toEqual(['agentConversationTurn', 'agentConversationTurn']);
    const read = turns.map(({ value }) => {
      const turn = value as { userMessage: Uint8Array; steps: Uint8Array[]; requestId?: string };
      return {
        user: fromBinary(UserMessageSchema, blobOf(peer, turn.userMessage)).text,
        steps: turn.steps.map(id => fromBinary(ConversationStepSchema, blobOf(peer, id)).message),
        requestId: turn.requestId,
      };
    });
    expect(read.map(({ user }) => user)).toEqual(['one', 'two']);
    expect(read.map(({ requestId }) => requestId)).toEqual([first.requestId, peer.requestId]);
    expect(read[0]!.steps.map(step => step.case)).toEqual([
      'thinkingMessage',
      'assistantMessage',
      'toolCall',
      'assistantMessage',
    ]);
    expect(read[0]!.steps[2]).toMatchObject({
      value: { tool: { case: 'readToolCall', value: { args: { path: '/home/dev/project/a.txt' } } } },
    });
    expect(read[1]!.steps).toMatchObject([{ case: 'assistantMessage', value: { text: 'short' } }]);
  });

  it('[R47-prefix-byte-equal] only grows: each model call starts with the bytes of the one before, notes included', async () => {
    const requests = [];
    house.say(
      { reasoning: 'one by one', calls: [READ] },
      { text: 'next', calls: [READ, { name: 'Ls', args: { path: '.' } }] },
      { text: 'done', finish: 'length' },
      { text: ' really' },
    );
    const first = await house.peer().turn('go');
    expect(first.fault).toBeUndefined();
    requests.push(...house.requests);
    expect(requests).toHaveLength(4);
    // what is new of the workspace is told at the tail; what was said of it before stays where it is
    house.say({ calls: [READ] }, { text: 'again' });
    const second = first.next();
    second.workspace.context = { conversationNotesListing: 'notes.md' };
    await second.turn('again', { conversationState: first.state });
    requests.push(...house.requests);
    house.say({ text: 'the last' });
    await second.next().turn('and again', { conversationState: second.state });
    requests.push(...house.requests);
    expect(requests).toHaveLength(7);
    expect(textsOf(requests.at(-1)!.body, 'user').filter(text => text.includes('<workspace>'))).toHaveLength(2);
    expect(brokenPrefix(requests)).toBeUndefined();
  });

  it('[R51-used-tokens, R51-breakdown-adds-up] counts the tokens of the last model call, and its categories add up to them', async () => {
    const usage = (prompt: number, cached: number, completion: number) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached },
    });
    house.say({ calls: [READ], usage: usage(1_000, 0, 37) }, { text: 'done', usage: usage(1_200, 900, 23) });
    const peer = await house.peer().turn('read it');
    const details = peer.checkpoints.map(({ state }) => state.tokenDetails!);
    expect(details[0]!.usedTokens).toBeGreaterThan(0); // an estimate: nothing was answered yet
    expect(details.at(-2)!.usedTokens).toBe(1_037);
    expect(details.at(-1)).toMatchObject({ usedTokens: 1_223, maxTokens: 200_000 });
    for (const { usedTokens, maxTokens, breakdown } of details) {
      const sum = breakdown!.categories.reduce((total, { estimatedTokens }) => total + estimatedTokens, 0);
      expect(sum).toBe(usedTokens);
      expect(breakdown).toMatchObject({ totalUsedTokens: usedTokens, maxTokens });
    }
    house.say({ text: 'small' });
    const small = await house.peer({ model: 'blind-model' }).turn('hello');
    expect(small.state.tokenDetails!.maxTokens).toBe(40_000);
  });

  it('[R52-todos-folded] shows the todos that the model wrote, merged into those there were, over turns and servers', async () => {
    const todosOf = (peer: Peer, state = peer.state) =>
      state.todos
        .map(id => fromBinary(TodoItemSchema, blobOf(peer, id)))
        .map(({ id, content, status }) => [id, content, status]);
    const write = (merge: boolean, ...todos: object[]) => ({ name: 'TodoWrite', args: { merge, todos } });
    house.say(
      {
        calls: [
          write(
            false,
            { id: 'a', content: 'first', status: 'in_progress' },
            { id: 'b', content: 'second', status: 'pending' },
          ),
        ],
      },
      { calls: [write(true, { id: 'a', status: 'completed' }, { id: 'c', content: 'third' })] },
      { text: 'planned' },
    );
    const first = await house.peer().turn('plan it');
    const counts = first.checkpoints.map(({ state }) => state.todos.length);
    expect(counts.at(0)).toBe(0);
    expect(counts).toContain(2);
    expect(todosOf(first)).toEqual([
      ['a', 'first', TodoStatus.COMPLETED],
      ['b', 'second', TodoStatus.PENDING],
      ['c', 'third', TodoStatus.PENDING],
    ]);

    const stranger = await startHouse();
    try {
      stranger.say({ calls: [write(true, { id: 'b', status: 'completed' })] }, { text: 'done' });
      const second = await first.next({ url: stranger.server.url }).turn('go on', { conversationState: first.state });
      expect(todosOf(second).map(([id, , status]) => [id, status])).toEqual([
        ['a', TodoStatus.COMPLETED],
        ['b', TodoStatus.COMPLETED],
        ['c', TodoStatus.PENDING],
      ]);
      expect(reachableBlobs(second.state, second.blobs).missing).toEqual([]);
    } finally {
      await stranger.close();
    }
  });

  it('[K07-orphans-repaired] K07: gives a valid request from calls without results and results without calls', async () => {
    const broken = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'look' },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'lost', toolName: 'Grep', result: 'found nothing' }],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'open-1', toolName: 'Read', args: { path: 'a.txt' } },
          { type: 'tool-call', toolCallId: 'done-1', toolName: 'Read', args: { path: 'b.txt' } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'done-1', toolName: 'Read', result: 'text of b' }] },
    ];
    house.say({ text: 'ok' });
    const peer = await house
      .peer()
      .turn('and now?', { conversationState: { rootPromptMessagesJson: broken.map(jsonBlob) } });
    expect(peer.fault).toBeUndefined();
    const { messages } = house.requests[0]!.body;
    const open = new Set<unknown>();
    for (const message of messages) {
      if (message.role === 'tool') expect(open.delete(message['tool_call_id']), 'a result without its call').toBe(true);
      else expect([...open], 'calls without results').toEqual([]);
      for (const { id } of message.tool_calls ?? []) open.add(id);
    }
    expect([...open]).toEqual([]);
    expect(toolTexts(house.requests[0]!.body)).toContain('text of b');
    expect(toolTexts(house.requests[0]!.body).join()).toContain('interrupted');
    const users = textsOf(house.requests[0]!.body, 'user').join('\n');
    for (const words of ['lost', 'Grep', 'found nothing']) expect(users).toContain(words);
  });
});
