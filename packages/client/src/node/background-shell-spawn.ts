import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { BackgroundShellSpawnResultSchema, ShellAbortReason } from '@tandem/protocol/agent';
import type { BackgroundShellSpawnArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { ShellJob, checkLeave } from './shell-job.ts';
import { messageOf } from './workspace.ts';

type Result = NonNullable<MessageInitShape<typeof BackgroundShellSpawnResultSchema>['result']>;

/** Starts a command in the background at once; its output goes to its terminal file, its input stays open when it is to be written to. */
export function backgroundShellSpawnExecutor(machine: Machine): Executor<'backgroundShellSpawnArgs'> {
  return {
    kind: 'backgroundShellSpawnArgs',
    deadlineMs: null,
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await spawnShell(machine, args, signal);
      return { case: 'backgroundShellSpawnResult', value: create(BackgroundShellSpawnResultSchema, { result }) };
    },
  };
}

async function spawnShell(machine: Machine, args: BackgroundShellSpawnArgs, signal: AbortSignal): Promise<Result> {
  const refusal = await checkLeave(machine, args, signal);
  if (refusal !== undefined) return { case: 'rejected', value: refusal };
  const { command } = args;
  const workingDirectory = machine.workspace.resolve(args.workingDirectory);
  let job: ShellJob | undefined;
  try {
    job = await ShellJob.start(machine, {
      command,
      cwd: workingDirectory,
      closeStdin: !args.enableWriteShellStdinTool,
    });
    const shellId = job.toBackground();
    return { case: 'success', value: { shellId, command, workingDirectory, pid: job.pid } };
  } catch (error) {
    job?.stop(ShellAbortReason.UNSPECIFIED);
    return { case: 'error', value: { command, workingDirectory, error: messageOf(error) } };
  }
}
