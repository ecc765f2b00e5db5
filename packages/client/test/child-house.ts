import type { AgentRunRequest } from '@tandem/protocol/agent';
import { afterEach, expect } from 'vitest';
import { AgentClient } from '../src/client.ts';
import type { RunEvent } from '../src/event.ts';
import type { Executors } from '../src/executor.ts';
import { fastClock } from './clocks.ts';
import { FakeServer } from './fake-server.ts';
import type { FakeStream } from './fake-server.ts';

/** What a server plays to a run that begins child runs, and to each of these. */
export interface ChildScripts {
  parent: (stream: FakeStream) => Promise<void>;
  child: (stream: FakeStream, request: AgentRunRequest) => void | Promise<void>;
}

let server: FakeServer | undefined;
let client: AgentClient | undefined;
afterEach(async () => {
  await client?.close();
  await server?.close();
});

/** All streams of the server that plays, the parent's first. */
export function playedStreams(): readonly FakeStream[] {
  return server?.streams ?? [];
}

/** Plays a parent run with its children to the parent's end, and gives its events. */
export async function playChildren({ parent, child }: ChildScripts, executors: Executors = []): Promise<RunEvent[]> {
  server = await FakeServer.start(async stream => {
    const request = await stream.runRequest();
    if (request.subagentTypeName === undefined) {
      await parent(stream);
      stream.finish('parent is done');
    } else await child(stream, request);
  });
  client = new AgentClient({ baseUrl: server.url, executors, clock: fastClock(20) });
  const events: RunEvent[] = [];
  for await (const event of client.run({ prompt: 'go', conversationId: 'parent-conversation' })) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: 'end', outcome: 'ended' });
  return events;
}

/** The branch and the value of an exec's answer. */
export async function resultOf(stream: FakeStream, id: number) {
  const { answers } = await stream.settled(id);
  const answer = answers[0] as { value: { result: { case: string; value: Record<string, unknown> } } } | undefined;
  return [answer?.value.result.case, answer?.value.result.value] as const;
}

/** The exec that begins a child run. */
export function beginChild(more: object = {}) {
  return {
    case: 'subagentArgs',
    value: { toolCallId: 'call-1', subagentType: 'explore', modelId: 'small', prompt: 'look', ...more },
  } as const;
}
