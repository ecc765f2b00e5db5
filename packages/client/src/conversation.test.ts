import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { create } from '@bufbuild/protobuf';
import { afterEach, expect, it } from 'vitest';
import { FakeServer } from '../test/fake-server.ts';
import type { FakeStream } from '../test/fake-server.ts';
import { AgentClient } from './client.ts';
import type { QueryAnswer } from './answer-query.ts';

let server: FakeServer;
afterEach(() => server.close());

async function start(script: (stream: FakeStream) => void | Promise<void>): Promise<AgentClient> {
  server = await FakeServer.start(script);
  return new AgentClient({ baseUrl: server.url, executors: [] });
}
const injected = (stream: FakeStream) =>
  stream.until('an injection', all => {
    const found = all.find(one => one.case === 'conversationAction' && one.value.action.case === 'injectContextAction');
    return found?.case === 'conversationAction' && found.value.action.case === 'injectContextAction'
      ? found.value.action.value
      : undefined;
  });

it('K04: carries the checkpoint from turn to turn, and keeps each one in order', async () => {
  const seen: string[][] = [];
  const kept: string[][] = [];
  const client = await start(async stream => {
    const { conversationState } = await stream.runRequest();
    seen.push(conversationState?.readPaths ?? []);
    stream.checkpoint({ readPaths: [`/turn-${stream.index}`] });
    stream.turnEnded();
    stream.end();
  });
  const save = (state: ConversationStateStructure) => (kept.push(state.readPaths), Promise.resolve());
  const conversation = client.conversation('conversation-1', {
    state: create(ConversationStateStructureSchema, { readPaths: ['/before'] }),
    save,
  });
  expect((await conversation.send('one').done).conversationId).toBe('conversation-1');
  await conversation.send('two').done;
  await conversation.saved();
  expect([seen, kept]).toEqual([
    [['/before'], ['/turn-0']],
    [['/turn-0'], ['/turn-1']],
  ]);
});

it('has one turn at a time, and goes on after a cancelled one', async () => {
  const begun = Promise.withResolvers<void>();
  const client = await start(async stream => {
    await stream.runRequest();
    if (stream.index === 0) return begun.resolve();
    stream.finish('second');
  });
  const conversation = client.conversation();
  const first = conversation.send('one');
  await begun.promise;
  expect(() => conversation.send('two')).toThrow(/still under way/);
  expect(conversation.run).toBe(first);
  await conversation.cancel();
  expect((await first.done).outcome).toBe('cancelled');
  expect(await conversation.send('two').done).toMatchObject({ outcome: 'ended', text: 'second' });
});

it('tells what a save threw to whoever asks, and loses no turn by it', async () => {
  const client = await start(async stream => {
    await stream.runRequest();
    stream.finish();
  });
  const conversation = client.conversation(undefined, { save: () => Promise.reject(new Error('disk full')) });
  expect((await conversation.send('one').done).outcome).toBe('ended');
  await expect(conversation.saved()).rejects.toThrow('disk full');
});

it('[R65-client] injects into the running turn and tells what became of it', async () => {
  const client = await start(async stream => {
    const { runId } = await stream.runRequest();
    const injection = await injected(stream);
    expect(injection.expectedRunId).toBe(runId);
    expect(injection.payload).toMatchObject({ value: { userMessage: { text: 'also this' } } });
    const { injectionId } = injection;
    const tell = (state: object) =>
      stream.update({ case: 'contextInjectionState', value: { injectionId, state: { state: state as never } } });
    tell({ case: 'queued', value: {} });
    tell({ case: 'delivered', value: { step: 1 } });
    stream.finish();
  });
  const conversation = client.conversation();
  const run = conversation.send('one');
  expect(await conversation.inject('also this')).toEqual({ outcome: 'delivered' });
  const states: string[] = [];
  for await (const event of run) if (event.type === 'injection') states.push(event.state);
  expect(states).toEqual(['queued', 'delivered']);
});

it('[R65-client] settles injections that nobody answered when the run ends, and those without a run at once', async () => {
  const client = await start(async stream => {
    await injected(stream);
    stream.finish();
  });
  const conversation = client.conversation();
  const run = conversation.send('one');
  expect(await conversation.inject('too late')).toEqual({ outcome: 'unanswered' });
  await run.done;
  expect(await conversation.inject('nobody')).toEqual({ outcome: 'unanswered' });
  expect(await run.inject('nobody')).toEqual({ outcome: 'unanswered' });
});

it('[§19-answer-by-hand] leaves a question open until it is answered by hand', async () => {
  const answers: unknown[] = [];
  const client = await start(async stream => {
    await stream.runRequest();
    for (const id of [7, 8])
      stream.send({ case: 'interactionQuery', value: { id, query: { case: 'switchModeRequestQuery', value: {} } } });
    for (const id of [7, 8]) {
      answers.push(
        await stream.until('an answer', all => {
          const found = all.find(one => one.case === 'interactionResponse' && one.value.id === id);
          return found?.case === 'interactionResponse' ? found.value.result : undefined;
        }),
      );
    }
    stream.finish();
  });
  const conversation = client.conversation(undefined, { answersByHand: true });
  const run = conversation.send('one');
  const approved: QueryAnswer = {
    case: 'switchModeRequestResponse',
    value: {
      $typeName: 'agent.v1.SwitchModeRequestResponse',
      result: { case: 'approved', value: { $typeName: 'agent.v1.SwitchModeRequestResponse.Approved' } },
    },
  };
  for await (const event of run) {
    if (event.type !== 'question') continue;
    expect(conversation.answer(event.id, event.id === 7 ? approved : undefined)).toBe(true);
    expect(conversation.answer(event.id, approved)).toBe(false);
  }
  expect(answers).toMatchObject([
    { case: 'switchModeRequestResponse', value: { result: { case: 'approved' } } },
    { case: 'switchModeRequestResponse', value: { result: { case: 'rejected' } } },
  ]);
});
