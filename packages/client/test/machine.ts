import { create } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { ExecAnswer, Executor, ExecKind } from '../src/executor.ts';
import type { Machine } from '../src/node/machine.ts';
import type { McpServerConfig } from '../src/node/mcp/server-config.ts';
import { McpServers } from '../src/node/mcp/servers.ts';
import { Permission } from '../src/node/permission.ts';
import type { Ask } from '../src/node/permission-question.ts';
import type { PermissionMode } from '../src/node/permission.ts';
import type { PermissionRule } from '../src/node/permission-rule.ts';
import { Shells } from '../src/node/shell-job.ts';
import { TerminalFolder } from '../src/node/terminal-folder.ts';
import { Workspace } from '../src/node/workspace.ts';

const folders: string[] = [];
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map(close => close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder of its own for a test, removed after it; `workspace` and `terminals` lie beside each other in it. */
export function makeMachine(
  tree: Record<string, string | Uint8Array> = {},
  options: {
    mode?: PermissionMode;
    ask?: Ask;
    rules?: readonly PermissionRule[];
    mcpServers?: Record<string, McpServerConfig>;
  } = {},
): { machine: Machine; root: string; base: string; file: (name: string) => string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tandem-')));
  folders.push(base);
  const root = join(base, 'workspace');
  mkdirSync(root);
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  const permission = new Permission({
    mode: options.mode ?? 'auto',
    ask: options.ask,
    root,
    rules: options.rules ?? [],
  });
  const env = { PATH: process.env['PATH'], HOME: base, LANG: 'C.UTF-8' };
  const mcp = new McpServers({ workspace: root, given: options.mcpServers, env, permission });
  closers.push(() => mcp.close());
  const machine: Machine = {
    workspace: new Workspace(root),
    permission,
    mcp,
    terminals: new TerminalFolder(join(base, 'terminals')),
    shells: new Shells(),
    env,
  };
  return { machine, root, base, file: name => join(root, name) };
}

/** Runs an executor with plain arguments and gives all its answers. */
export async function runExecutor<Kind extends ExecKind, Schema extends DescMessage>(
  executor: Executor<Kind>,
  schema: Schema,
  args: MessageInitShape<Schema>,
  signal: AbortSignal = new AbortController().signal,
): Promise<ExecAnswer[]> {
  const outcome = executor.run(create(schema, args) as never, { signal });
  if (!(Symbol.asyncIterator in outcome)) return [await outcome];
  const answers: ExecAnswer[] = [];
  for await (const answer of outcome) answers.push(answer);
  return answers;
}

/** The branch of a result and its value: `['success', { … }]`. */
export function branchOf(answer: ExecAnswer | undefined): [string | undefined, Record<string, unknown>] {
  if (answer === undefined) throw new Error('the executor gave no answer');
  const { result } = answer.value as unknown as {
    result: { case: string | undefined; value: Record<string, unknown> };
  };
  return [result.case, result.value];
}
