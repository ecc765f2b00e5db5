import type { AgentRunRequest } from '@tandem/protocol/agent';
import { fault } from '@tandem/protocol';
import { expect, it } from 'vitest';
import { beginChild, playChildren, playedStreams, resultOf } from '../../test/child-house.ts';
import type { FakeStream } from '../../test/fake-server.ts';
import type { Executors } from '../executor.ts';

it('[R64-client] begins a child run on the same server, and gives its last words', async () => {
  let seen: AgentRunRequest | undefined;
  let headers: unknown;
  const events = await playChildren({
    async parent(stream) {
      const [branch, value] = await resultOf(stream, stream.ask(beginChild()));
      expect([branch, value]).toMatchObject(['success', { finalMessage: 'found it', toolCallCount: 1 }]);
      expect(value?.['agentId']).toBe(seen?.conversationId);
    },
    child(stream, request) {
      seen = request;
      headers = [
        stream.headers['x-parent-request-id'],
        stream.headers['x-parent-agent-tool-call-id'],
        playedStreams()[0]!.requestId,
      ];
      stream.text('I look');
      stream.update({
        case: 'toolCallCompleted',
        value: { callId: 'c', toolCall: { tool: { case: 'readToolCall', value: {} } } },
      });
      stream.finish('found it');
    },
  });
  expect(seen).toMatchObject({
    subagentTypeName: 'explore',
    conversationGroupId: 'parent-conversation',
    modelDetails: { modelId: 'small' },
    action: { action: { value: { userMessage: { text: 'look' } } } },
  });
  expect(seen?.requestedModel).toBeUndefined();
  const [parentRequest, toolCall, first] = headers as string[];
  expect([parentRequest, toolCall]).toEqual([first, 'call-1']);
  expect(events).toContainEqual({ type: 'child', id: 'call-1', event: { type: 'text', text: 'found it' } });
});

it('[R54-child] tries a child run once, and tells its parent why it failed', async () => {
  let streams = 0;
  await playChildren({
    async parent(stream) {
      expect(await resultOf(stream, stream.ask(beginChild()))).toMatchObject([
        'error',
        { error: expect.stringMatching(/^\[unavailable\]/) },
      ]);
    },
    child(stream) {
      streams++;
      stream.end(fault('provider_unavailable', 'gone'));
    },
  });
  expect(streams).toBe(1);
});

it('lets a child only look when it is read-only, and its children too', async () => {
  const wrote: string[] = [];
  const executors: Executors = [
    {
      kind: 'writeArgs',
      run: args => (wrote.push(args.path), Promise.resolve({ case: 'writeResult', value: {} as never })),
    },
    {
      kind: 'readArgs',
      run: () => Promise.resolve({ case: 'readResult', value: { result: { case: 'success', value: {} } } as never }),
    },
    { kind: 'piBashArgs', run: () => Promise.reject(new Error('it ran')) },
    { kind: 'shellStreamArgs', run: () => Promise.reject(new Error('it ran')) },
  ];
  let depth = 0;
  await playChildren(
    {
      parent: async stream =>
        expect((await resultOf(stream, stream.ask(beginChild({ readonly: true }))))[0]).toBe('success'),
      async child(stream) {
        const ask = (message: Parameters<FakeStream['ask']>[0]) => resultOf(stream, stream.ask(message));
        expect(await ask({ case: 'writeArgs', value: { path: 'a' } })).toMatchObject([
          'permissionDenied',
          { isReadonly: true },
        ]);
        expect((await ask({ case: 'readArgs', value: { path: 'a' } }))[0]).toBe('success');
        expect(await ask({ case: 'piBashArgs', value: {} })).toMatchObject([
          'error',
          { error: expect.stringContaining('read-only') },
        ]);
        const shell = await stream.settled(stream.ask({ case: 'shellStreamArgs', value: { command: 'x' } }));
        expect(shell.answers).toMatchObject([
          { value: { event: { case: 'permissionDenied', value: { isReadonly: true } } } },
        ]);
        if (depth++ === 0) expect((await ask(beginChild({ toolCallId: 'inner' })))[0]).toBe('success');
        stream.finish();
      },
    },
    executors,
  );
  expect([wrote, depth]).toEqual([[], 2]);
});

it('goes on in the background, is awaited, and is resumed with its last checkpoint', async () => {
  const states: unknown[] = [];
  let release = () => undefined as void;
  const released = new Promise<void>(resolve => (release = resolve));
  await playChildren({
    async parent(stream) {
      const [, value] = await resultOf(stream, stream.ask(beginChild({ runInBackground: true })));
      expect(value).toMatchObject({ backgroundReason: 1 });
      const agentId = value?.['agentId'] as string;
      const wait = (timeoutMs: number, id = agentId) =>
        resultOf(stream, stream.ask({ case: 'subagentAwaitArgs', value: { agentId: id, timeoutMs } }));
      expect((await wait(20))[0]).toBe('stillRunning');
      expect((await wait(20, 'none'))[0]).toBe('notFound');
      expect(
        (await resultOf(stream, stream.ask(beginChild({ toolCallId: 'call-2', resumeAgentId: agentId }))))[0],
      ).toBe('error');
      release();
      expect(await wait(20_000)).toMatchObject(['complete', { agentId, finalMessage: 'done' }]);
      expect(
        await resultOf(stream, stream.ask(beginChild({ toolCallId: 'call-3', resumeAgentId: agentId }))),
      ).toMatchObject(['success', { agentId }]);
    },
    async child(stream, request) {
      states.push(request.conversationState?.readPaths);
      await released;
      stream.finish();
    },
  });
  expect(states).toEqual([[], ['/seen']]);
});

it('lets its parent go on when it is sent to the background by hand', async () => {
  await playChildren({
    async parent(stream) {
      const id = stream.ask(beginChild());
      const force = (toolCallId: string) => stream.ask({ case: 'forceBackgroundSubagentArgs', value: { toolCallId } });
      await stream.until('the child', () => playedStreams().length > 1);
      expect((await stream.settled(force('other'))).answers).toMatchObject([{ value: { status: 2 } }]);
      expect((await stream.settled(force('call-1'))).answers).toMatchObject([{ value: { status: 1 } }]);
      expect((await resultOf(stream, id))[1]).toMatchObject({ backgroundReason: 2 });
    },
    child: () => undefined,
  });
});

it("[R33-child] ends with its parent's call when that is aborted", async () => {
  await playChildren({
    async parent(stream) {
      const id = stream.ask(beginChild());
      const child = await stream.until('the child', () => playedStreams()[1]);
      await child.runRequest();
      stream.send({ case: 'execServerControlMessage', value: { message: { case: 'abort', value: { id } } } });
      expect((await resultOf(stream, id))[0]).toBe('error');
      await child.gone();
    },
    child: () => undefined,
  });
});

it('does not nest without end', async () => {
  let deepest = 0;
  await playChildren({
    parent: async stream =>
      expect((await resultOf(stream, stream.ask(beginChild({ toolCallId: 'call-0' }))))[0]).toBe('success'),
    async child(stream) {
      const [branch] = await resultOf(stream, stream.ask(beginChild({ toolCallId: `call-${++deepest}` })));
      stream.finish(String(branch));
    },
  });
  expect(deepest).toBe(5);
});
