import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiEditExecResultSchema, ReadArgsSchema } from '@tandem/protocol/agent';
import type { PiEditExecArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../../executor.ts';
import type { Machine } from '../machine.ts';
import { readFile } from '../read.ts';
import { messageOf } from '../workspace.ts';
import { writeFileFor } from '../write.ts';
import { applyEdits, hunksOf } from './edit-text.ts';
import { reasonOf } from './read.ts';

type Result = NonNullable<MessageInitShape<typeof PiEditExecResultSchema>['result']>;

/** Replaces texts in a file, all or none. Each old text has to be there exactly once. */
export function piEditExecutor(machine: Machine): Executor<'piEditArgs'> {
  return {
    kind: 'piEditArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await edit(machine, args, signal);
      return { case: 'piEditResult', value: create(PiEditExecResultSchema, { result }) };
    },
  };
}

async function edit(machine: Machine, { path, edits }: PiEditExecArgs, signal: AbortSignal): Promise<Result> {
  try {
    const { result } = await readFile(machine, create(ReadArgsSchema, { path }), signal);
    if (result.case !== 'success' || result.value.output.case !== 'content' || result.value.truncated)
      return { case: 'error', value: { error: reasonOf(result, path) } };
    const before = result.value.output.value;
    const applied = applyEdits(before, edits);
    if ('problem' in applied) return { case: 'error', value: { error: `${path}: ${applied.problem}` } };
    const written = await writeFileFor(machine, { path, text: applied.text, expected: before, signal });
    if ('refused' in written) return { case: 'rejected', value: { reason: written.refused } };
    const hunks = hunksOf(before, applied.places);
    const value = {
      output: `replaced ${edits.length} ${edits.length === 1 ? 'text' : 'texts'} in ${path}`,
      diff: hunks.text,
      patch: `--- a/${path}\n+++ b/${path}\n${hunks.text}`,
      firstChangedLine: hunks.firstChangedLine,
    };
    return { case: 'success', value };
  } catch (error) {
    signal.throwIfAborted();
    return { case: 'error', value: { error: messageOf(error) } };
  }
}
