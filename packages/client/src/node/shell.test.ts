import {
  BackgroundShellSpawnArgsSchema,
  ForceBackgroundShellArgsSchema,
  ForceBackgroundShellStatus,
  ShellAbortReason,
  ShellArgsSchema,
  TimeoutBehavior,
  WriteShellStdinArgsSchema,
} from '@tandem/protocol/agent';
import type { ForceBackgroundShellResult, ShellStream } from '@tandem/protocol/agent';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { backgroundShellSpawnExecutor } from './background-shell-spawn.ts';
import { forceBackgroundShellExecutor } from './force-background-shell.ts';
import type { Machine } from './machine.ts';
import { shellStreamExecutor } from './shell-stream.ts';
import { shellExecutor } from './shell.ts';
import { writeShellStdinExecutor } from './write-shell-stdin.ts';

const shell = async (machine: Machine, command: string, more: { timeout?: number } = {}) =>
  branchOf((await runExecutor(shellExecutor(machine), ShellArgsSchema, { command, ...more }))[0]);
const spawn = async (machine: Machine, command: string, enableWriteShellStdinTool = true) =>
  branchOf(
    (
      await runExecutor(backgroundShellSpawnExecutor(machine), BackgroundShellSpawnArgsSchema, {
        command,
        enableWriteShellStdinTool,
      })
    )[0],
  );
const write = async (machine: Machine, shellId: number, chars: string) =>
  branchOf((await runExecutor(writeShellStdinExecutor(machine), WriteShellStdinArgsSchema, { shellId, chars }))[0]);
async function terminal(machine: Machine, shellId: number, pattern: RegExp): Promise<string> {
  for (;;) {
    const text = readFileSync(join(machine.terminals.path, `${shellId}.txt`), 'utf8');
    if (pattern.test(text)) return text;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

it('answers once with both outputs, and with them as they came', async () => {
  const { machine, root } = makeMachine();
  expect(await shell(machine, 'echo one; sleep 0.1; echo two >&2')).toMatchObject([
    'success',
    {
      command: 'echo one; sleep 0.1; echo two >&2',
      workingDirectory: root,
      exitCode: 0,
      stdout: 'one\n',
      stderr: 'two\n',
      interleavedOutput: 'one\ntwo\n',
    },
  ]);
});

it('tells a failure by its exit code, its signal, or the time it was stopped at', async () => {
  const { machine } = makeMachine();
  expect(await shell(machine, 'echo bad >&2; exit 7')).toMatchObject([
    'failure',
    { exitCode: 7, stderr: 'bad\n', signal: '', aborted: false },
  ]);
  expect(await shell(machine, 'kill -TERM $$')).toMatchObject(['failure', { exitCode: 143, signal: 'SIGTERM' }]);
  expect(await shell(machine, 'sleep 60', { timeout: 200 })).toMatchObject([
    'failure',
    { aborted: true, abortReason: ShellAbortReason.TIMEOUT },
  ]);
});

it('starts a shell in the background and talks to it', async () => {
  const { machine, root } = makeMachine();
  const [branch, value] = await spawn(machine, 'read x; echo "got:$x"; exit 4');
  expect([branch, value['workingDirectory']]).toEqual(['success', root]);
  const shellId = value['shellId'] as number;
  expect(await write(machine, shellId, 'hello\n')).toMatchObject(['success', { shellId }]);
  expect(await terminal(machine, shellId, /elapsed_ms/)).toMatch(/---\ngot:hello\n\n---\nexit_code: 4\n/);
  expect((await write(machine, shellId, 'late\n'))[0]).toBe('error');
});

it('tells an unknown shell, and one whose input is closed', async () => {
  const { machine } = makeMachine();
  expect(await write(machine, 424242, 'x')).toMatchObject([
    'error',
    { error: 'no shell 424242 is running in the background' },
  ]);
  const [, value] = await spawn(machine, 'sleep 0.5', false);
  expect(await write(machine, value['shellId'] as number, 'x')).toMatchObject([
    'error',
    { error: expect.stringMatching(/closed/) },
  ]);
});

it('a read-only run starts nothing', async () => {
  const { machine, file } = makeMachine({}, { mode: 'read-only' });
  expect(await shell(machine, 'touch made')).toMatchObject(['rejected', { isReadonly: true }]);
  expect(await spawn(machine, 'touch made')).toMatchObject(['rejected', { isReadonly: true }]);
  expect(existsSync(file('made'))).toBe(false);
});

it('sends a command to the background on demand', async () => {
  const { machine } = makeMachine();
  const force = async (toolCallId: string) => {
    const [answer] = await runExecutor(forceBackgroundShellExecutor(machine), ForceBackgroundShellArgsSchema, {
      toolCallId,
    });
    return (answer?.value as ForceBackgroundShellResult).status;
  };
  expect(await force('call-1')).toBe(ForceBackgroundShellStatus.NOT_FOUND);
  const running = runExecutor(shellStreamExecutor(machine), ShellArgsSchema, {
    command: 'echo begin; sleep 0.5; echo end',
    toolCallId: 'call-1',
    timeout: 30_000,
    timeoutBehavior: TimeoutBehavior.BACKGROUND,
  });
  while (!machine.shells.foreground.has('call-1')) await new Promise(resolve => setTimeout(resolve, 10));
  expect(await force('call-1')).toBe(ForceBackgroundShellStatus.ACCEPTED);
  const events = (await running).map(answer => (answer.value as ShellStream).event);
  const last = events.at(-1);
  expect(last?.case).toBe('backgrounded');
  expect(await terminal(machine, last?.case === 'backgrounded' ? last.value.shellId : 0, /elapsed_ms/)).toMatch(
    /begin\nend\n\n---\nexit_code: 0/,
  );
  expect(await force('call-1')).toBe(ForceBackgroundShellStatus.NOT_FOUND);
});
