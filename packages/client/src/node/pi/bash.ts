import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiBashExecResultSchema, ShellAbortReason } from '@tandem/protocol/agent';
import type { PiBashExecArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../../executor.ts';
import type { Machine } from '../machine.ts';
import { ShellJob, checkLeave } from '../shell-job.ts';
import { messageOf } from '../workspace.ts';
import { keepTail } from './truncation.ts';

type Result = NonNullable<MessageInitShape<typeof PiBashExecResultSchema>['result']>;

/** Characters kept while a command runs; what came before is in the file that the answer names. */
const KEPT = 200_000;

/** Runs a command in the workspace and answers when it has ended. `timeout` is in seconds. An exit code other than 0 is an error that names it. */
export function piBashExecutor(machine: Machine): Executor<'piBashArgs'> {
  return {
    kind: 'piBashArgs',
    deadlineMs: null,
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await runCommand(machine, args, signal);
      return { case: 'piBashResult', value: create(PiBashExecResultSchema, { result }) };
    },
  };
}

async function runCommand(
  machine: Machine,
  { command, timeout }: PiBashExecArgs,
  signal: AbortSignal,
): Promise<Result> {
  const refusal = await checkLeave(machine, { command, workingDirectory: '' }, signal);
  if (refusal !== undefined) return { case: 'error', value: { error: `not run: ${refusal.reason}` } };
  let output = '';
  let job: ShellJob;
  try {
    job = await ShellJob.start(machine, {
      command,
      cwd: machine.workspace.root,
      closeStdin: true,
      threshold: KEPT,
      onPiece: (_stream, text) => (output = (output + text).slice(-KEPT)),
    });
  } catch (error) {
    return { case: 'error', value: { error: `the command cannot be started: ${messageOf(error)}` } };
  }
  const onAbort = () => job.stop(ShellAbortReason.USER_ABORT);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  if (timeout !== undefined && timeout > 0) job.after(timeout * 1000, () => job.stop(ShellAbortReason.TIMEOUT));
  const end = await job.ended;
  signal.removeEventListener('abort', onAbort);
  const { text, truncation } = keepTail(output.replace(/\n$/, ''));
  const more = {
    ...(truncation === undefined ? {} : { truncation }),
    ...(end.location === undefined ? {} : { fullOutputPath: end.location.filePath }),
  };
  if (end.stopped === undefined && end.code === 0)
    return { case: 'success', value: { output: text === '' ? '(no output)' : text, ...more } };
  const words =
    end.stopped === undefined
      ? `the command ended with exit code ${end.code}`
      : end.stopped === ShellAbortReason.TIMEOUT
        ? `the command was stopped after ${timeout} s`
        : 'the command was aborted';
  return { case: 'error', value: { error: text === '' ? words : `${text}\n\n${words}`, ...more } };
}
