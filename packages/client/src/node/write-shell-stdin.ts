import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { WriteShellStdinResultSchema } from '@tandem/protocol/agent';
import type { WriteShellStdinArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';

type Result = NonNullable<MessageInitShape<typeof WriteShellStdinResultSchema>['result']>;

/** Writes characters to the input of a shell in the background. Leave to run the command was leave to talk to it. */
export function writeShellStdinExecutor(machine: Machine): Executor<'writeShellStdinArgs'> {
  return {
    kind: 'writeShellStdinArgs',
    run(args): Promise<ExecAnswer> {
      const value = create(WriteShellStdinResultSchema, { result: writeTo(machine, args) });
      return Promise.resolve({ case: 'writeShellStdinResult', value });
    },
  };
}

function writeTo(machine: Machine, { shellId, chars }: WriteShellStdinArgs): Result {
  const job = machine.shells.background.get(shellId);
  if (job === undefined) return { case: 'error', value: { error: `no shell ${shellId} is running in the background` } };
  // Before the input: whoever reads the file on from here sees what came of it.
  const terminalFileLengthBeforeInputWritten = job.terminalBytes;
  if (!job.write(chars)) return { case: 'error', value: { error: `the input of shell ${shellId} is closed` } };
  return { case: 'success', value: { shellId, terminalFileLengthBeforeInputWritten } };
}
