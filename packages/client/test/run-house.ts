import { afterEach } from 'vitest';
import { AgentClient } from '../src/client.ts';
import type { AgentClientOptions } from '../src/client.ts';
import type { EndEvent, RunEvent } from '../src/event.ts';
import type { AnyExecutor } from '../src/executor.ts';
import type { Run } from '../src/run.ts';
import { fastClock } from './clocks.ts';
import { FakeServer } from './fake-server.ts';
import type { FakeStream, Intercept } from './fake-server.ts';

/** Fast enough for a test, slow enough that a busy machine's stall is not taken for silence. */
export const FAST = 20;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A scripted server and a client of it, both closed after the test; an error of a script fails the test then. */
export async function startHouse(
  script: (stream: FakeStream) => void | Promise<void>,
  options: Partial<AgentClientOptions> = {},
  intercept?: Intercept,
): Promise<{ server: FakeServer; client: AgentClient }> {
  const server = await FakeServer.start(script, intercept === undefined ? {} : { intercept });
  const client = new AgentClient({
    baseUrl: server.url,
    apiKey: 'key-1',
    executors: [],
    clock: fastClock(FAST),
    ...options,
  });
  closers.push(
    () => server.close(),
    () => client.close(),
  );
  return { server, client };
}

/** All events of a run, and its end. */
export async function collectRun(run: Run): Promise<{ events: RunEvent[]; end: EndEvent }> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return { events, end: await run.done };
}

/** An executor of `write` that answers only once it is let go by hand. */
export function slowWrite(): { executor: AnyExecutor; runs: () => number; finish: () => void } {
  let runs = 0;
  let finish = () => undefined as void;
  const finished = new Promise<void>(resolve => (finish = resolve));
  const executor: AnyExecutor = {
    kind: 'writeArgs',
    async run(args) {
      runs++;
      await finished;
      return {
        case: 'writeResult',
        value: {
          $typeName: 'agent.v1.WriteResult',
          result: { case: 'rejected', value: { $typeName: 'agent.v1.WriteRejected', path: args.path, reason: '' } },
        },
      };
    },
  };
  return { executor, runs: () => runs, finish };
}
