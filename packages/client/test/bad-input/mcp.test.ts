import { McpArgsSchema } from '@tandem/protocol/agent';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mcpExecutor } from '../../src/node/mcp.ts';
import { branchOf, makeMachine, runExecutor } from '../machine.ts';

const SERVER = fileURLToPath(new URL('../mcp-stdio-server.ts', import.meta.url));
const servers = (...args: string[]) => ({
  small: { command: process.execPath, args: ['--no-warnings', SERVER, ...args] },
});
function callOf(machine: ReturnType<typeof makeMachine>['machine'], toolName = 'echo', signal?: AbortSignal) {
  const args = { providerIdentifier: 'small', toolName };
  return runExecutor(mcpExecutor(machine), McpArgsSchema, args, signal).then(answers => branchOf(answers[0]));
}

it.each([
  ['ends before its first word', ['die'], /cannot be used.*no licence found/],
  ['writes rubbish without end', ['flood'], /it writes lines that are no JSON/],
  ['writes one line without end', ['endless'], /longer than 67108864 characters/],
])('[bad-mcp-garbage] a server that %s is an error of its call, and says so', async (_what, behaviour, words) => {
  const { machine } = makeMachine({}, { mcpServers: servers(...behaviour) });
  expect(await callOf(machine)).toMatchObject(['error', { error: expect.stringMatching(words) }]);
});

it('[bad-mcp-crash] a program that is not there is an error of its call', async () => {
  const { machine } = makeMachine({}, { mcpServers: { small: { command: '/nowhere/to/be/found' } } });
  expect(await callOf(machine)).toMatchObject(['error', { error: expect.stringMatching(/ENOENT/) }]);
});

it('[bad-mcp-hang] a server that never answers is left when its call is aborted, and ends when the client closes', async () => {
  const { machine } = makeMachine({}, { mcpServers: servers('silent') });
  const controller = new AbortController();
  const calling = callOf(machine, 'echo', controller.signal);
  const startedAt = performance.now();
  setImmediate(() => controller.abort(new Error('aborted by the server')));
  await expect(calling).rejects.toThrow('aborted by the server');
  await machine.mcp.close();
  // Its connecting alone may take twenty seconds.
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});

it('[bad-mcp-crash] calls that are open when a server crashes all fail, and the next one starts it anew', async () => {
  const { machine } = makeMachine({}, { mcpServers: servers() });
  await callOf(machine);
  const open = [callOf(machine, 'hang'), callOf(machine, 'hang'), callOf(machine, 'crash')];
  expect((await Promise.all(open)).map(([branch]) => branch)).toEqual(['error', 'error', 'error']);
  expect((await callOf(machine))[0]).toBe('success');
});
