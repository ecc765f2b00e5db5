import { create } from '@bufbuild/protobuf';
import { execAnswers } from '@tandem/protocol';
import { ExecServerMessageSchema, ExecuteHookArgsSchema } from '@tandem/protocol/agent';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExecKind } from '../../src/executor.ts';
import { nodeExecutors } from '../../src/node/executors.ts';
import type { FakeStream } from '../fake-server.ts';
import { startHouse } from '../run-house.ts';

const MCP_SERVER = fileURLToPath(new URL('../mcp-stdio-server.ts', import.meta.url));
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A workspace with something in it for each kind of exec. */
function makeWorkspace(): string {
  const root = join(realpathSync(mkdtempSync(join(tmpdir(), 'tandem-'))), 'workspace');
  folders.push(dirname(root));
  const files = {
    'a.txt': 'one\ntwo\nthree\n',
    'src/b.ts': 'let b: number = "x";\n',
    'tsconfig.json': '{}',
    'node_modules/.bin/tsc': '#!/bin/sh\necho "src/b.ts(1,5): error TS2322: No."; exit 2\n',
    '.cursor/hooks.json': '{"version":1,"hooks":{"preToolUse":[{"command":"echo \'{\\"permission\\":\\"deny\\"}\'"}]}}',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  chmodSync(join(root, 'node_modules/.bin/tsc'), 0o755);
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  return root;
}

/** What a scenario has: the stream, the workspace, and the address of the server. */
interface Scene {
  root: string;
  url: string;
  /** Asks and waits; the branch of the answer and its value. */
  ask(message: Parameters<FakeStream['ask']>[0]): Promise<readonly [string | undefined, Record<string, unknown>]>;
  /** All answers of an exec that streams. */
  askAll(message: Parameters<FakeStream['ask']>[0]): Promise<{ case?: string | undefined; value?: unknown }[]>;
  stream: FakeStream;
}
const toolCallId = 'call-1';
const sleeper = (root: string) => ({
  command: 'cat',
  workingDirectory: root,
  toolCallId,
  enableWriteShellStdinTool: true,
});

/** One scenario for each kind that a client of this machine can do. */
const scenarios: Partial<Record<ExecKind, (scene: Scene) => Promise<void>>> = {
  requestContextArgs: async ({ ask, root }) => {
    expect(await ask({ case: 'requestContextArgs', value: {} })).toMatchObject([
      'success',
      { requestContext: { env: { workspacePaths: [root] } } },
    ]);
  },
  readArgs: async ({ ask }) => {
    expect(await ask({ case: 'readArgs', value: { path: 'a.txt', toolCallId } })).toMatchObject([
      'success',
      { totalLines: 4, output: { value: 'one\ntwo\nthree\n' } },
    ]);
  },
  writeArgs: async ({ ask, root }) => {
    const value = { path: 'new/c.txt', fileText: 'new', toolCallId };
    expect((await ask({ case: 'writeArgs', value }))[0]).toBe('success');
    expect(readFileSync(join(root, 'new/c.txt'), 'utf8')).toBe('new');
  },
  deleteArgs: async ({ ask, root }) => {
    expect((await ask({ case: 'deleteArgs', value: { path: 'a.txt', toolCallId } }))[0]).toBe('success');
    expect(existsSync(join(root, 'a.txt'))).toBe(false);
  },
  grepArgs: async ({ ask, root }) => {
    const [branch, value] = await ask({ case: 'grepArgs', value: { pattern: 'tw[o]', toolCallId } });
    const results = value['workspaceResults'] as Record<string, { result: { value: { totalMatchedLines: number } } }>;
    expect([branch, results[root]!.result.value.totalMatchedLines]).toEqual(['success', 1]);
  },
  lsArgs: async ({ ask, root }) => {
    expect(await ask({ case: 'lsArgs', value: { path: 'src', toolCallId } })).toMatchObject([
      'success',
      { directoryTreeRoot: { absPath: join(root, 'src'), childrenFiles: [{ name: 'b.ts' }] } },
    ]);
  },
  shellStreamArgs: async ({ askAll, root }) => {
    const value = {
      command: 'echo out; exit 3',
      workingDirectory: root,
      timeout: 30_000,
      closeStdin: true,
      toolCallId,
    };
    const answers = await askAll({ case: 'shellStreamArgs', value });
    const events = answers.map(answer => (answer.value as { event: { case: string; value: object } }).event);
    expect([events[0]?.case, events.at(-1)]).toMatchObject(['start', { case: 'exit', value: { code: 3 } }]);
    expect(events.find(event => event.case === 'stdout')).toMatchObject({ value: { data: 'out\n' } });
  },
  shellArgs: async ({ ask, root }) => {
    const value = { command: 'echo out', workingDirectory: root, timeout: 30_000, toolCallId };
    expect(await ask({ case: 'shellArgs', value })).toMatchObject(['success', { exitCode: 0, stdout: 'out\n' }]);
  },
  miniSweAgentBashArgs: async ({ ask, root }) => {
    const value = { command: 'exit 4', workingDirectory: root, timeout: 30_000, toolCallId };
    expect(await ask({ case: 'miniSweAgentBashArgs', value })).toMatchObject(['failure', { exitCode: 4 }]);
  },
  backgroundShellSpawnArgs: async ({ ask, root }) => {
    const [branch, value] = await ask({ case: 'backgroundShellSpawnArgs', value: sleeper(root) });
    expect([branch, typeof value['shellId']]).toEqual(['success', 'number']);
  },
  writeShellStdinArgs: async ({ ask, root }) => {
    const [, value] = await ask({ case: 'backgroundShellSpawnArgs', value: sleeper(root) });
    const shellId = value['shellId'] as number;
    expect((await ask({ case: 'writeShellStdinArgs', value: { shellId, chars: 'hello\n' } }))[0]).toBe('success');
    expect((await ask({ case: 'writeShellStdinArgs', value: { shellId: 9_999, chars: 'x' } }))[0]).toBe('error');
  },
  forceBackgroundShellArgs: async ({ stream, root }) => {
    const value = { command: 'cat', workingDirectory: root, timeout: 600_000, toolCallId };
    const shell = stream.ask({ case: 'shellStreamArgs', value });
    await stream.until('the start of the shell', () => stream.heard(shell).answers.length > 0);
    const forced = await stream.settled(stream.ask({ case: 'forceBackgroundShellArgs', value: { toolCallId } }));
    expect(forced.answers).toMatchObject([{ case: 'forceBackgroundShellResult', value: { status: 1 } }]);
    const { answers } = await stream.settled(shell);
    expect((answers.at(-1)?.value as unknown as { event: { case: string } }).event.case).toBe('backgrounded');
  },
  mcpArgs: async ({ ask }) => {
    const value = { providerIdentifier: 'small', toolName: 'echo', toolCallId };
    expect(await ask({ case: 'mcpArgs', value })).toMatchObject(['success', { structuredContent: { got: {} } }]);
  },
  mcpStateExecArgs: async ({ ask }) => {
    expect(await ask({ case: 'mcpStateExecArgs', value: { serverIdentifiers: ['small'] } })).toMatchObject([
      'success',
      { servers: [{ serverName: 'small' }] },
    ]);
  },
  listMcpResourcesExecArgs: async ({ ask }) => {
    expect(await ask({ case: 'listMcpResourcesExecArgs', value: { server: 'small' } })).toMatchObject([
      'success',
      { resources: [{ uri: 'small://one' }] },
    ]);
  },
  readMcpResourceExecArgs: async ({ ask }) => {
    const value = { server: 'small', uri: 'small://one', toolCallId };
    expect(await ask({ case: 'readMcpResourceExecArgs', value })).toMatchObject([
      'success',
      { content: { value: 'text of one' } },
    ]);
  },
  fetchArgs: async ({ ask, url }) => {
    expect(await ask({ case: 'fetchArgs', value: { url: `${url}/page`, toolCallId } })).toMatchObject([
      'success',
      { statusCode: 200, content: 'a page' },
    ]);
  },
  gitDiffRequest: async ({ askAll, root }) => {
    const [answer] = await askAll({ case: 'gitDiffRequest', value: { cwd: root, maxUntrackedFiles: 10 } });
    expect(answer?.case).toBe('gitDiffResponse');
    expect(JSON.stringify(answer, (_key, part: unknown) => (typeof part === 'bigint' ? Number(part) : part))).toContain(
      'a.txt',
    );
  },
  diagnosticsArgs: async ({ ask }) => {
    expect(await ask({ case: 'diagnosticsArgs', value: { path: 'src/b.ts', toolCallId } })).toMatchObject([
      'success',
      { totalDiagnostics: 1 },
    ]);
  },
  executeHookArgs: async ({ askAll }) => {
    const request = {
      request: { case: 'preToolUse' as const, value: { toolName: 'Shell', toolUseId: 'u' } },
    };
    const value = create(ExecuteHookArgsSchema, { request });
    const [answer] = await askAll({ case: 'executeHookArgs', value });
    expect(answer).toMatchObject({
      case: 'executeHookResult',
      value: { response: { response: { case: 'preToolUse', value: { permission: 'deny' } } } },
    });
  },
  shellAllowlistPrecheckArgs: async ({ askAll, root }) => {
    const value = { command: 'git status', workingDirectory: root, toolCallId };
    const [answer] = await askAll({ case: 'shellAllowlistPrecheckArgs', value });
    expect(answer).toMatchObject({ case: 'shellAllowlistPrecheckResult', value: { allowlisted: true } });
  },
  mcpAllowlistPrecheckArgs: async ({ askAll }) => {
    const value = { providerIdentifier: 'other', toolName: 'echo', toolCallId };
    const [answer] = await askAll({ case: 'mcpAllowlistPrecheckArgs', value });
    expect(answer).toMatchObject({ case: 'mcpAllowlistPrecheckResult', value: { allowlisted: false } });
  },
  webFetchAllowlistPrecheckArgs: async ({ askAll, url }) => {
    const [answer] = await askAll({ case: 'webFetchAllowlistPrecheckArgs', value: { url, toolCallId } });
    expect(answer).toMatchObject({ case: 'webFetchAllowlistPrecheckResult', value: { allowlisted: true } });
  },
  subagentArgs: async ({ ask }) => {
    const value = { toolCallId, subagentType: 'explore', modelId: 'small', prompt: 'look' };
    expect(await ask({ case: 'subagentArgs', value })).toMatchObject(['success', { finalMessage: 'by the child' }]);
  },
  subagentAwaitArgs: async ({ ask }) => {
    expect((await ask({ case: 'subagentAwaitArgs', value: { agentId: 'nobody', timeoutMs: 10 } }))[0]).toBe('notFound');
  },
  forceBackgroundSubagentArgs: async ({ askAll }) => {
    const [answer] = await askAll({ case: 'forceBackgroundSubagentArgs', value: { toolCallId: 'nobody' } });
    expect(answer).toMatchObject({ case: 'forceBackgroundSubagentResult', value: { status: 2 } });
  },
  piReadArgs: async ({ ask }) => {
    expect(await ask({ case: 'piReadArgs', value: { path: 'a.txt', limit: 1 } })).toMatchObject([
      'success',
      { output: expect.stringMatching(/^one\n/) },
    ]);
  },
  piBashArgs: async ({ ask }) => {
    expect(await ask({ case: 'piBashArgs', value: { command: 'echo out' } })).toMatchObject([
      'success',
      { output: expect.stringContaining('out') },
    ]);
  },
  piEditArgs: async ({ ask, root }) => {
    const value = { path: 'a.txt', edits: [{ oldText: 'two', newText: '2' }] };
    expect((await ask({ case: 'piEditArgs', value }))[0]).toBe('success');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n2\nthree\n');
  },
  piWriteArgs: async ({ ask, root }) => {
    expect((await ask({ case: 'piWriteArgs', value: { path: 'p.txt', content: 'p' } }))[0]).toBe('success');
    expect(readFileSync(join(root, 'p.txt'), 'utf8')).toBe('p');
  },
  piGrepArgs: async ({ ask }) => {
    expect(await ask({ case: 'piGrepArgs', value: { pattern: 'three' } })).toMatchObject([
      'success',
      { output: expect.stringContaining('a.txt') },
    ]);
  },
  piFindArgs: async ({ ask }) => {
    expect(await ask({ case: 'piFindArgs', value: { pattern: '*.ts' } })).toMatchObject([
      'success',
      { output: expect.stringContaining('src/b.ts') },
    ]);
  },
  piLsArgs: async ({ ask }) => {
    expect(await ask({ case: 'piLsArgs', value: { path: '.' } })).toMatchObject([
      'success',
      { output: expect.stringContaining('a.txt') },
    ]);
  },
};

/** What a client of this machine cannot do, and why: it refuses each in words. */
const refused: Partial<Record<ExecKind, string>> = {
  recordScreenArgs: 'there is no screen to record',
  computerUseArgs: 'there is no desktop to use',
  redactedReadArgs: 'nothing is known here about what would have to be blackened',
  smartModeClassifierArgs: 'no model of its own judges risks',
  canvasDiagnosticsArgs: 'there is no canvas',
  conversationSearchArgs: 'conversations of the past are not searched for a server',
  agentStoreConflictArgs: 'there is no shared store of agents',
  adoptArgs: 'there is no agent of another client to adopt',
};

async function play(script: (scene: Scene) => Promise<void>): Promise<void> {
  const root = makeWorkspace();
  const permissionsFile = join(root, '..', 'permissions.json');
  writeFileSync(permissionsFile, JSON.stringify({ allow: ['fetch: 127.0.0.1'] }));
  const executors = nodeExecutors({
    workspace: root,
    permission: 'auto',
    ask: () => Promise.resolve(true),
    terminalsFolder: join(root, '..', 'terminals'),
    permissionsFile,
    env: { PATH: process.env['PATH'], HOME: join(root, '..') },
    mcpServers: { small: { command: process.execPath, args: ['--no-warnings', MCP_SERVER] } },
  });
  const { client, server } = await startHouse(
    async stream => {
      const request = await stream.runRequest();
      if (request.subagentTypeName !== undefined) return stream.finish('by the child');
      const askAll: Scene['askAll'] = async message => {
        const { answers, control } = await stream.settled(stream.ask(message));
        const thrown = control.flatMap(one => (one.case === 'throw' ? [one.value.error] : []));
        if (thrown.length > 0) throw new Error(`${message.case} was refused: ${thrown.join()}`);
        return answers;
      };
      const ask: Scene['ask'] = async message => {
        const [answer] = await askAll(message);
        const { result } = answer?.value as { result: { case: string; value: Record<string, unknown> } };
        return [result.case, result.value];
      };
      await script({ root, url: server.url, ask, askAll, stream });
      stream.finish();
    },
    { executors },
    (request, response) => {
      if (request.url !== '/page') return false;
      response.writeHead(200, { 'content-type': 'text/plain' }).end('a page');
      return true;
    },
  );
  const run = client.run({ prompt: 'Go.' });
  const end = await run.done;
  // The error of a script comes when the server closes.
  if (end.outcome !== 'ended') await server.close();
  expect(end.outcome).toBe('ended');
}

describe('[§22.2-each-exec-answered] an exec over a stream', () => {
  it.each(Object.entries(scenarios))('%s is done', async (_kind, scenario) => await play(scenario));

  it.each(Object.keys(refused) as ExecKind[])('%s is refused in words, and the turn goes on', async kind => {
    await play(async ({ stream }) => {
      const { answers, control } = await stream.settled(stream.ask({ case: kind, value: {} } as never));
      expect([answers, control[0]]).toMatchObject([
        [],
        { case: 'throw', value: { error: `this client has no executor for ${kind}` } },
      ]);
    });
  });

  it('has a scenario or a refusal for every branch of the schema, and no other', () => {
    const branches = ExecServerMessageSchema.fields.filter(field => field.oneof !== undefined);
    const covered = [...Object.keys(scenarios), ...Object.keys(refused)];
    expect(covered.sort()).toEqual(branches.map(field => field.localName).sort());
    expect(Object.keys(execAnswers).sort()).toEqual(covered);
  });
});
