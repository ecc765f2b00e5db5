import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiWriteExecResultSchema } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../../executor.ts';
import type { Machine } from '../machine.ts';
import { messageOf } from '../workspace.ts';
import { writeFileFor } from '../write.ts';

type Result = NonNullable<MessageInitShape<typeof PiWriteExecResultSchema>['result']>;

/** Writes a whole text file; folders above it are made. */
export function piWriteExecutor(machine: Machine): Executor<'piWriteArgs'> {
  return {
    kind: 'piWriteArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run({ path, content }, { signal }): Promise<ExecAnswer> {
      const result = await write(machine, path, content, signal);
      return { case: 'piWriteResult', value: create(PiWriteExecResultSchema, { result }) };
    },
  };
}

async function write(machine: Machine, path: string, text: string, signal: AbortSignal): Promise<Result> {
  try {
    const written = await writeFileFor(machine, { path, text, signal });
    if ('refused' in written) return { case: 'rejected', value: { reason: written.refused } };
    return { case: 'success', value: { output: `wrote ${Buffer.byteLength(text)} bytes to ${path}` } };
  } catch (error) {
    signal.throwIfAborted();
    return { case: 'error', value: { error: messageOf(error) } };
  }
}
