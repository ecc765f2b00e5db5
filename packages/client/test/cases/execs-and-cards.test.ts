import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { InteractionQuerySchema, McpArgsSchema } from '@tandem/protocol/agent';
import type { InteractionQuery } from '@tandem/protocol/agent';
import { fitsQuery } from '@tandem/protocol';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Query } from '../../src/answer-query.ts';
import type { ToolEvent } from '../../src/event.ts';
import type { AnyExecutor } from '../../src/executor.ts';
import { limits } from '../../src/limits.ts';
import { mcpExecutor } from '../../src/node/mcp.ts';
import { readExecutor } from '../../src/node/read.ts';
import { ManualClock } from '../clocks.ts';
import type { FakeStream } from '../fake-server.ts';
import { makeMachine } from '../machine.ts';
import { collectRun, startHouse } from '../run-house.ts';

const MCP_SERVER = fileURLToPath(new URL('../mcp-stdio-server.ts', import.meta.url));
const queryBranches = InteractionQuerySchema.fields.filter(field => field.oneof !== undefined);

/** Plays one stream of a server against this machine, as files describe it. */
async function play(
  tree: Record<string, string>,
  script: (stream: FakeStream) => Promise<void>,
  executors: (machine: ReturnType<typeof makeMachine>['machine']) => AnyExecutor[],
): Promise<void> {
  const { machine } = makeMachine(tree, {
    mcpServers: { small: { command: process.execPath, args: ['--no-warnings', MCP_SERVER] } },
  });
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      await script(stream);
      stream.finish();
    },
    { executors: executors(machine) },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
}
async function answerOf(stream: FakeStream, id: number): Promise<{ case?: string; value: Record<string, unknown> }> {
  const { answers, control } = await stream.settled(id);
  if (answers[0] === undefined) throw new Error(`exec ${id} was answered with ${JSON.stringify(control)}`);
  return (answers[0].value as unknown as { result: { case: string; value: Record<string, unknown> } }).result;
}

it('X01: a client without a human answers every query, and one that it does not know with a rejection', async () => {
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    for (const [index, field] of queryBranches.entries()) {
      const query = { case: field.localName, value: {} } as MessageInitShape<typeof InteractionQuerySchema>['query'];
      stream.send({ case: 'interactionQuery', value: { id: index + 1, query: query! } as InteractionQuery });
    }
    const unknown = queryBranches.length + 1;
    stream.send({ case: 'interactionQuery', value: { id: unknown } });
    const responses = await stream.until('an answer to each', all => {
      const found = all.flatMap(one => (one.case === 'interactionResponse' ? [one.value] : []));
      return found.length === unknown && found;
    });
    for (const { id, result } of responses) {
      const name = queryBranches[id - 1]?.localName;
      // A response without a branch is the rejection of a query that has no other.
      if (name === undefined || name === 'setupVmEnvironmentArgs')
        expect([name, result.case]).toEqual([name, undefined]);
      else expect([name, fitsQuery(name as Query['case'], result.case!)]).toEqual([name, true]);
    }
    stream.finish();
  });
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
});

it('X02: an exec without an executor, of an unknown kind, or that fails, is answered by a throw, and the turn completes', async () => {
  const fails: AnyExecutor = { kind: 'lsArgs', run: () => Promise.reject(new Error('disk on fire')) };
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      const ids = [
        stream.ask({ case: 'computerUseArgs', value: {} }),
        stream.ask({ case: undefined } as never),
        stream.ask({ case: 'lsArgs', value: { path: '.' } }),
      ];
      const thrown = [];
      for (const id of ids) {
        const { control } = await stream.settled(id);
        thrown.push(control.flatMap(one => (one.case === 'throw' ? [one.value.error] : [])));
      }
      expect(thrown).toEqual([
        ['this client has no executor for computerUseArgs'],
        ['this client does not know the kind of exec that was asked for'],
        ['disk on fire'],
      ]);
      stream.finish();
    },
    { executors: [fails] },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
});

it('X02: an executor that never settles is answered for at its deadline', async () => {
  const clock = new ManualClock();
  let begin: () => void = () => undefined;
  const begun = new Promise<void>(resolve => (begin = resolve));
  const hangs: AnyExecutor = { kind: 'lsArgs', run: () => (begin(), new Promise(() => undefined)) };
  const { client } = await startHouse(
    async stream => {
      await stream.runRequest();
      const id = stream.ask({ case: 'lsArgs', value: { path: '.' } });
      await begun;
      for (let beats = 1; beats * limits.execHeartbeat < limits.execDeadline; beats++) {
        clock.pass(limits.execHeartbeat);
        await stream.until('a heartbeat of the exec', () => stream.heard(id).control.length >= beats);
      }
      clock.pass(limits.execHeartbeat);
      clock.pass(limits.abortGrace);
      const { control } = await stream.settled(id);
      expect(control.find(one => one.case === 'throw')).toMatchObject({
        value: { error: 'lsArgs did not finish within 300000 ms' },
      });
      stream.finish();
    },
    { executors: [hangs], clock },
  );
  expect((await client.run({ prompt: 'Go.' }).done).outcome).toBe('ended');
});

it('X06: an exec that only asks for leave runs no tool', async () => {
  let crashed = true;
  await play(
    {},
    async stream => {
      // The tool ends its server when it runs.
      const ask = (more: MessageInitShape<typeof McpArgsSchema>) =>
        stream.ask({
          case: 'mcpArgs',
          value: { providerIdentifier: 'small', toolName: 'crash', toolCallId: 'call-1', ...more },
        });
      const probe = await answerOf(stream, ask({ smartModeApprovalOnly: true }));
      expect(probe.case).toBe('approved');
      crashed = (await answerOf(stream, ask({ toolCallId: 'call-2' }))).case === 'error';
    },
    machine => [mcpExecutor(machine)],
  );
  expect(crashed).toBe(true);
});

it('X07: argument deltas add up, and what the started card says is not replaced by less', async () => {
  const pieces = Array.from({ length: 50 }, (_, index) => `${index}:${'漢"\\n'.repeat(1_000)}`);
  const streamContent = pieces.join('');
  const card = (args?: object) => ({
    tool: { case: 'editToolCall' as const, value: args === undefined ? {} : { args } },
  });
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    for (const argsTextDelta of pieces)
      stream.update({ case: 'partialToolCall', value: { callId: 'call-1', argsTextDelta, toolCall: card() } });
    stream.update({
      case: 'toolCallStarted',
      value: { callId: 'call-1', toolCall: card({ path: 'a', streamContent }) as never },
    });
    // Some servers leave large arguments out of the last card.
    stream.update({ case: 'toolCallCompleted', value: { callId: 'call-1', toolCall: card() } });
    stream.finish();
  });
  const { events } = await collectRun(client.run({ prompt: 'Go.' }));
  const calls = events.filter((event): event is ToolEvent => event.type === 'tool');
  expect(calls.map(call => call.argsTextDelta ?? '').join('')).toBe(streamContent);
  expect(calls.find(call => call.status === 'running')?.args).toEqual({ path: 'a', streamContent });
  expect(calls.at(-1)).toMatchObject({ status: 'completed' });
  expect(calls.at(-1)).not.toHaveProperty('args');
});

it('X09: calls that are open together are told apart by their call id alone', async () => {
  const toolCall = (path: string) => ({ tool: { case: 'readToolCall' as const, value: { args: { path } } } });
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    stream.update({ case: 'toolCallStarted', value: { callId: 'A', toolCall: toolCall('a') } });
    stream.update({ case: 'toolCallStarted', value: { callId: 'B', toolCall: toolCall('b') } });
    stream.update({ case: 'toolCallCompleted', value: { callId: 'A', toolCall: toolCall('a') } });
    stream.cut();
  });
  const run = client.run({ prompt: 'Go.' });
  const calls: unknown[] = [];
  for await (const event of run) {
    if (event.type === 'tool') calls.push([event.id, event.status, event.args?.['path']]);
    if (event.type === 'retry') run.cancel();
  }
  // The one that was left open is closed, and no other.
  expect(calls).toEqual([
    ['A', 'running', 'a'],
    ['B', 'running', 'b'],
    ['A', 'completed', 'a'],
    ['B', 'failed', undefined],
  ]);
});

it('X16: text after a tool is a part of its own', async () => {
  const { client } = await startHouse(async stream => {
    await stream.runRequest();
    stream.text('A');
    const value = { callId: 'call-1', toolCall: { tool: { case: 'readToolCall' as const, value: {} } } };
    stream.update({ case: 'toolCallStarted', value });
    stream.update({ case: 'toolCallCompleted', value });
    stream.finish('B');
  });
  const { events, end } = await collectRun(client.run({ prompt: 'Go.' }));
  const parts = events.flatMap(event =>
    event.type === 'text' ? [event.text] : event.type === 'tool' ? [`${event.id} ${event.status}`] : [],
  );
  expect([parts, end.text]).toEqual([['A', 'call-1 running', 'call-1 completed', 'B'], 'B']);
});

it('X17: the totals of a ranged read are those of the whole file', async () => {
  const text = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join('\n');
  await play(
    { 'long.txt': text },
    async stream => {
      const id = stream.ask({ case: 'readArgs', value: { path: 'long.txt', offset: 10, limit: 20 } });
      expect(await answerOf(stream, id)).toMatchObject({
        case: 'success',
        value: { totalLines: 100, fileSize: BigInt(text.length), rangeApplied: true, truncated: false },
      });
      const { value } = await answerOf(stream, id);
      const content = (value['output'] as { value: string }).value.split('\n');
      expect([content.length, content[0], content.at(-1)]).toEqual([20, 'line 10', 'line 29']);
    },
    machine => [readExecutor(machine)],
  );
});

it('K11: an MCP argument that looks like a number reaches its server as the text it is', async () => {
  await play(
    {},
    async stream => {
      const args = { id: { kind: { case: 'stringValue' as const, value: '00123' } } };
      const id = stream.ask({
        case: 'mcpArgs',
        value: create(McpArgsSchema, { providerIdentifier: 'small', toolName: 'echo', toolCallId: 'call-1', args }),
      });
      const { value } = await answerOf(stream, id);
      expect(value['structuredContent']).toEqual({ got: { id: '00123' } });
    },
    machine => [mcpExecutor(machine)],
  );
});
