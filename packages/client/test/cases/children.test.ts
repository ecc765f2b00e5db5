import { fault } from '@tandem/protocol';
import type { AgentRunRequest } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import type { Executors } from '../../src/executor.ts';
import { beginChild, playChildren, playedStreams, resultOf } from '../child-house.ts';

it('C07: a child run that fails is an error of its call, and the parent goes on', async () => {
  const events = await playChildren({
    async parent(stream) {
      expect(await resultOf(stream, stream.ask(beginChild()))).toMatchObject([
        'error',
        { error: '[unavailable] the provider said 500' },
      ]);
    },
    child: stream => stream.end(fault('provider_unavailable', 'the provider said 500')),
  });
  expect(events.at(-1)).toMatchObject({ text: 'parent is done' });
});

it('F55: a child run writes like its parent, unless it was told to be read-only', async () => {
  const wrote: string[] = [];
  const executors: Executors = [
    {
      kind: 'writeArgs',
      run: ({ path }) => {
        wrote.push(path);
        const value = { result: { case: 'success', value: { path } } } as never;
        return Promise.resolve({ case: 'writeResult', value });
      },
    },
  ];
  const branches: unknown[] = [];
  await playChildren(
    {
      async parent(stream) {
        for (const readonly of [undefined, false, true])
          await resultOf(stream, stream.ask(beginChild({ toolCallId: `call-${readonly}`, readonly })));
      },
      async child(stream) {
        const path = `by-${stream.index}`;
        branches.push((await resultOf(stream, stream.ask({ case: 'writeArgs', value: { path } })))[0]);
        stream.finish();
      },
    },
    executors,
  );
  expect([branches, wrote]).toEqual([
    ['success', 'success', 'permissionDenied'],
    ['by-1', 'by-2'],
  ]);
});

it('F56: a child run has a request id, a conversation and heartbeats of its own', async () => {
  let seen: AgentRunRequest | undefined;
  await playChildren({
    async parent(stream) {
      const call = stream.ask(beginChild());
      expect((await resultOf(stream, call))[0]).toBe('success');
      // Its call tells in the meantime that it is under way.
      expect(stream.heard(call).control.some(one => one.case === 'heartbeat')).toBe(true);
    },
    async child(stream, request) {
      seen = request;
      await stream.until('heartbeats', all => all.filter(one => one.case === 'clientHeartbeat').length >= 2);
      stream.finish();
    },
  });
  const [parent, child] = playedStreams();
  const first = await parent!.runRequest();
  expect(child!.requestId).not.toBe(parent!.requestId);
  expect(child!.headers['x-parent-request-id']).toBe(parent!.requestId);
  expect([seen?.conversationId, seen?.runId]).not.toEqual([first.conversationId, first.runId]);
});

it('F58: the abort of its call cancels a child run at the server; one in the background goes on', async () => {
  await playChildren({
    async parent(stream) {
      const background = stream.ask(beginChild({ toolCallId: 'call-0', runInBackground: true }));
      expect((await resultOf(stream, background))[0]).toBe('success');
      const id = stream.ask(beginChild());
      const child = await stream.until('the child', () => playedStreams()[2]);
      await child.runRequest();
      stream.send({ case: 'execServerControlMessage', value: { message: { case: 'abort', value: { id } } } });
      expect((await resultOf(stream, id))[0]).toBe('error');
      await child.until('a cancel', all =>
        all.some(one => one.case === 'conversationAction' && one.value.action.case === 'cancelAction'),
      );
      expect(playedStreams()[1]!.closed).toBe(false);
      playedStreams()[1]!.finish();
      await playedStreams()[1]!.gone();
    },
    child: () => undefined,
  });
});
