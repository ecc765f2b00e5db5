import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { fromJson } from '@bufbuild/protobuf';
import {
  ListMcpResourcesExecArgsSchema,
  McpArgsSchema,
  McpStateExecArgsSchema,
  ReadMcpResourceExecArgsSchema,
  RequestContextArgsSchema,
} from '@tandem/protocol/agent';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { startMcpHttpServer } from '../../test/mcp-http-server.ts';
import { listMcpResourcesExecutor } from './list-mcp-resources.ts';
import type { Machine } from './machine.ts';
import { mcpStateExecutor } from './mcp-state.ts';
import { mcpExecutor } from './mcp.ts';
import { parseRule } from './permission-rule.ts';
import type { PermissionQuestion } from './permission-question.ts';
import { readMcpResourceExecutor } from './read-mcp-resource.ts';
import { requestContextExecutor } from './request-context.ts';

const SERVER = fileURLToPath(new URL('../../test/mcp-stdio-server.ts', import.meta.url));
const entry = (...args: string[]) => ({ command: process.execPath, args: ['--no-warnings', SERVER, ...args] });
const declared = (servers: Record<string, unknown>) => ({ '.mcp.json': JSON.stringify({ mcpServers: servers }) });

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map(close => close()));
});

async function call(
  machine: Machine,
  tool: string,
  args: object = {},
  more: Record<string, unknown> = {},
  signal?: AbortSignal,
) {
  const message = fromJson(McpArgsSchema, {
    providerIdentifier: 'small',
    toolName: tool,
    args: args as never,
    ...(more as object),
  } as never);
  return branchOf((await runExecutor(mcpExecutor(machine), McpArgsSchema, message, signal))[0]);
}
async function state(machine: Machine, args: MessageInitShape<typeof McpStateExecArgsSchema> = {}) {
  const [, value] = branchOf((await runExecutor(mcpStateExecutor(machine), McpStateExecArgsSchema, args))[0]);
  return (
    value as unknown as {
      servers: { serverName: string; status: string; errorMessage?: string; tools: { name: string }[] }[];
    }
  ).servers;
}
const textOf = (value: Record<string, unknown>) =>
  (value['content'] as { content: { value: { text: string } } }[])[0]!.content.value.text;

it('[R60-mcp-json-types] calls a tool of a server that the workspace declares, and keeps the types (K11) of its arguments', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  const args = { s: '00123', n: 3, deep: { list: [1.5, true, null, 'x'], empty: {} } };
  const [branch, value] = await call(machine, 'echo', args, { name: 'small-echo' });
  expect([branch, JSON.parse(textOf(value)), value['structuredContent']]).toEqual(['success', args, { got: args }]);
});

it('gives failures, images, and what is no image, in the forms of the protocol', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  expect(await call(machine, 'fail')).toMatchObject(['success', { isError: true }]);
  expect((await call(machine, 'picture'))[1]['content']).toMatchObject([
    {
      content: {
        case: 'image',
        value: { mimeType: 'image/png', data: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]) },
      },
    },
  ]);
  expect((await call(machine, 'bad-picture'))[0]).toBe('error');
  expect(textOf((await call(machine, 'long'))[1])).toMatch(/x\n\(500000 more characters were left out\)$/);
});

it('names what there is when a server or a tool is unknown', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  expect(await call(machine, 'nope')).toMatchObject([
    'toolNotFound',
    { name: 'nope', availableTools: expect.arrayContaining(['echo']) },
  ]);
  expect(await call(machine, 'echo', {}, { providerIdentifier: 'other' })).toMatchObject([
    'serverNotFound',
    { name: 'other', availableServers: ['small'] },
  ]);
});

it('[bad-mcp-crash] fails the call in which a server crashes, and starts it anew for the next', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  expect((await call(machine, 'crash'))[0]).toBe('error');
  expect((await call(machine, 'echo'))[0]).toBe('success');
});

it('[bad-mcp-hang] leaves a call that hangs when it is aborted', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  await call(machine, 'echo');
  const controller = new AbortController();
  const hanging = call(machine, 'hang', {}, {}, controller.signal);
  controller.abort(new Error('aborted by the server'));
  await expect(hanging).rejects.toThrow('aborted by the server');
  expect((await call(machine, 'echo'))[0]).toBe('success');
});

it('[bad-mcp-garbage] skips lines that are no messages', async () => {
  const { machine } = makeMachine(declared({ small: entry('garbage') }));
  expect((await call(machine, 'echo'))[0]).toBe('success');
});

it('tells of each server how it stands, and why one cannot be used', async () => {
  const { machine } = makeMachine(
    declared({
      small: entry(),
      dead: entry('die'),
      missing: { command: 'no-such-program-here' },
      wrong: { url: 'ftp://x' },
      off: { ...entry(), disabled: true },
      unset: { command: 'x', env: { A: '${NO_SUCH_VARIABLE_HERE}' } },
    }),
  );
  const servers = await state(machine);
  expect(Object.fromEntries(servers.map(({ serverName, status }) => [serverName, status]))).toEqual({
    small: 'connected',
    dead: 'failed',
    missing: 'failed',
    wrong: 'failed',
    unset: 'failed',
  });
  const reasons = Object.fromEntries(servers.map(({ serverName, errorMessage }) => [serverName, errorMessage]));
  expect(reasons['dead']).toMatch(/no licence found/);
  expect(reasons['missing']).toMatch(/ENOENT/);
  expect(reasons['unset']).toMatch(/NO_SUCH_VARIABLE_HERE is not set/);
  expect(servers[0]!.tools.map(tool => tool.name)).toContain('small-echo');
  expect((await state(machine, { serverIdentifiers: ['dead'] })).map(one => one.serverName)).toEqual(['dead']);
  expect((await state(machine, { kickOnly: true })).map(one => one.status)).toContain('connected');
});

it('[R60-mcp-advertised] advertises tools and instructions in the request context', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  const [answer] = await runExecutor(requestContextExecutor(machine), RequestContextArgsSchema, {});
  const { requestContext } = branchOf(answer)[1] as { requestContext: Record<string, unknown> };
  expect(requestContext).toMatchObject({
    tools: expect.arrayContaining([
      expect.objectContaining({ name: 'small-echo', toolName: 'echo', providerIdentifier: 'small' }),
    ]),
    mcpInstructions: [{ serverName: 'small', instructions: 'Be gentle.' }],
    mcpMetaToolOptions: {
      enabled: true,
      mcpDescriptors: [{ serverName: 'small', serverUseInstructions: 'Be gentle.' }],
    },
    mcpInfoComplete: true,
  });
});

it('[product-permission-read-only] starts no server of the workspace and calls no tool in a read-only run', async () => {
  const { machine } = makeMachine(declared({ small: entry() }), { mode: 'read-only' });
  expect(await call(machine, 'echo')).toMatchObject(['rejected', { isReadonly: true }]);
  expect((await state(machine)).map(one => one.status)).toEqual(['refused']);
  expect(machine.mcp.names).toEqual(['small']);
});

it('asks before it starts a server that the workspace declares, once, and then before each call', async () => {
  const asked: PermissionQuestion[] = [];
  const ask = (question: PermissionQuestion) => (asked.push(question), Promise.resolve(true));
  const { machine, root } = makeMachine(declared({ small: entry() }), { mode: 'ask', ask });
  await state(machine);
  await call(machine, 'echo', { n: 1 });
  expect(asked).toEqual([
    {
      kind: 'mcp-server',
      server: 'small',
      rule: 'mcp-server: small',
      command: [process.execPath, ...entry().args].join(' '),
      workingDirectory: root,
    },
    { kind: 'mcp', server: 'small', tool: 'echo', args: { n: 1 }, rule: 'mcp: small/echo' },
  ]);
});

it('[product-permission-rules] obeys rules about MCP tools', async () => {
  const { machine } = makeMachine(declared({ small: entry() }), { rules: [parseRule('deny', 'mcp: small/fail')] });
  expect(await call(machine, 'fail')).toMatchObject(['rejected', { reason: 'the rule "mcp: small/fail" forbids it' }]);
  expect((await call(machine, 'echo'))[0]).toBe('success');
});

it('X06: answers a mere question for leave without running the tool', async () => {
  const { machine } = makeMachine(declared({ small: entry() }));
  expect((await call(machine, 'crash', {}, { smartModeApprovalOnly: true }))[0]).toBe('approved');
});

it('gives a server no variable of ours but those that programs need, and those of its entry', async () => {
  const { machine } = makeMachine(declared({ small: { ...entry(), env: { OWN: '1' } } }));
  machine.env['SECRET_KEY'] = 'secret';
  const names = JSON.parse(textOf((await call(machine, 'environment'))[1])) as string[];
  expect(names).toEqual(expect.arrayContaining(['OWN', 'PATH', 'HOME']));
  expect(names).not.toContain('SECRET_KEY');
});

it('[§10.2-mcp-resources] lists and reads resources, and downloads one into the workspace', async () => {
  const { machine, file } = makeMachine(declared({ small: entry(), dead: entry('die') }));
  const list = (args: object) => runExecutor(listMcpResourcesExecutor(machine), ListMcpResourcesExecArgsSchema, args);
  const read = async (args: object) =>
    branchOf(
      (
        await runExecutor(
          readMcpResourceExecutor(machine),
          ReadMcpResourceExecArgsSchema,
          create(ReadMcpResourceExecArgsSchema, { server: 'small', uri: 'small://one', ...args }),
        )
      )[0],
    );
  expect(branchOf((await list({}))[0])).toMatchObject([
    'success',
    { resources: [{ uri: 'small://one', name: 'one', server: 'small' }] },
  ]);
  expect(branchOf((await list({ server: 'dead' }))[0])[0]).toBe('error');
  expect(branchOf((await list({ server: 'none' }))[0])[0]).toBe('error');
  expect(await read({})).toMatchObject([
    'success',
    { mimeType: 'text/plain', content: { case: 'text', value: 'text of one' } },
  ]);
  expect((await read({ uri: 'small://two' }))[0]).toBe('notFound');
  expect((await read({ server: 'none' }))[0]).toBe('error');
  expect(await read({ downloadPath: 'got/one.txt' })).toMatchObject(['success', { downloadPath: file('got/one.txt') }]);
  expect(readFileSync(file('got/one.txt'), 'utf8')).toBe('text of one');
  expect((await read({ downloadPath: '../outside.txt' }))[0]).toBe('rejected');
});

it.each(['streamable', 'sse'] as const)(
  'speaks to a server over HTTP of the %s kind, whichever it turns out to be',
  async kind => {
    const server = await startMcpHttpServer({ kind, token: 'right' });
    closers.push(server.close);
    const { machine } = makeMachine(
      {},
      { mcpServers: { small: { url: server.url, headers: { authorization: 'Bearer right' } } } },
    );
    const [branch, value] = await call(machine, 'echo', { n: 1 });
    expect([branch, branch === 'success' ? textOf(value) : value]).toEqual(['success', '{"n":1}']);
  },
);

it('[mcp-oauth-refused] says that a server wants a sign-in, which is not done', async () => {
  const server = await startMcpHttpServer({ kind: 'streamable', token: 'right' });
  closers.push(server.close);
  const { machine } = makeMachine({}, { mcpServers: { small: { url: server.url } } });
  expect(await call(machine, 'echo')).toMatchObject([
    'error',
    { needsAuth: true, error: expect.stringContaining('sign-in') },
  ]);
});
