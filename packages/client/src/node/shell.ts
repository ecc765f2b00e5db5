import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ShellAbortReason, ShellResultSchema } from '@tandem/protocol/agent';
import type { ShellArgs } from '@tandem/protocol/agent';
import { constants } from 'node:os';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { ShellJob, checkLeave } from './shell-job.ts';
import { messageOf } from './workspace.ts';

type Result = NonNullable<MessageInitShape<typeof ShellResultSchema>['result']>;

/**
 * Runs a command and answers once, when it has ended. Its `timeout` always stops it: only the streaming kind goes to the background.
 */
export function shellExecutor(machine: Machine): Executor<'shellArgs'> {
  return {
    kind: 'shellArgs',
    deadlineMs: null,
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await runShell(machine, args, signal);
      return { case: 'shellResult', value: create(ShellResultSchema, { result }) };
    },
  };
}

/** The same for the family of tools that knows only this one. */
export function miniSweAgentBashExecutor(machine: Machine): Executor<'miniSweAgentBashArgs'> {
  return {
    kind: 'miniSweAgentBashArgs',
    deadlineMs: null,
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await runShell(machine, args, signal);
      return { case: 'miniSweAgentBashResult', value: create(ShellResultSchema, { result }) };
    },
  };
}

async function runShell(machine: Machine, args: ShellArgs, signal: AbortSignal): Promise<Result> {
  const refusal = await checkLeave(machine, args, signal);
  if (refusal !== undefined) return { case: 'rejected', value: refusal };
  const { command } = args;
  const workingDirectory = machine.workspace.resolve(args.workingDirectory);
  const output = { stdout: '', stderr: '', interleavedOutput: '' };
  let job: ShellJob;
  try {
    job = await ShellJob.start(machine, {
      command,
      cwd: workingDirectory,
      closeStdin: true,
      threshold: args.fileOutputThresholdBytes === undefined ? undefined : Number(args.fileOutputThresholdBytes),
      onPiece(stream, text) {
        output[stream] += text;
        output.interleavedOutput += text;
      },
    });
  } catch (error) {
    return { case: 'spawnError', value: { command, workingDirectory, error: messageOf(error) } };
  }
  const onAbort = () => job.stop(ShellAbortReason.USER_ABORT);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  for (const limit of [args.timeout, args.hardTimeout ?? 0]) {
    if (limit > 0) job.after(limit, () => job.stop(ShellAbortReason.TIMEOUT));
  }
  const end = await job.ended;
  signal.removeEventListener('abort', onAbort);
  const elapsed = Math.min(end.elapsedMs, 0x7fffffff);
  const common = {
    command,
    workingDirectory,
    exitCode: end.stopped === undefined ? end.code : -1,
    signal: end.code > 128 ? signalName(end.code - 128) : '',
    ...output,
    executionTime: elapsed,
    localExecutionTimeMs: elapsed,
    ...(end.location === undefined ? {} : { outputLocation: end.location }),
  };
  if (end.code === 0 && end.stopped === undefined) return { case: 'success', value: common };
  const aborted = end.stopped === undefined ? {} : { aborted: true, abortReason: end.stopped };
  return { case: 'failure', value: { ...common, ...aborted } };
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? '';
}
