import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiReadExecResultSchema, ReadArgsSchema } from '@tandem/protocol/agent';
import type { PiReadExecArgs, ReadResult } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../../executor.ts';
import type { Machine } from '../machine.ts';
import { readFile } from '../read.ts';
import { keepHead } from './truncation.ts';

type Result = NonNullable<MessageInitShape<typeof PiReadExecResultSchema>['result']>;

/** Reads a text file as plain lines; `offset` counts from 1. */
export function piReadExecutor(machine: Machine): Executor<'piReadArgs'> {
  return {
    kind: 'piReadArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = answer(await readFile(machine, create(ReadArgsSchema, { path: args.path }), signal), args);
      return { case: 'piReadResult', value: create(PiReadExecResultSchema, { result }) };
    },
  };
}

function answer({ result }: ReadResult, args: PiReadExecArgs): Result {
  if (result.case !== 'success' || result.value.output.case !== 'content')
    return { case: 'error', value: { error: reasonOf(result, args.path) } };
  const lines = result.value.output.value.split('\n');
  const from = Math.max(0, (args.offset ?? 1) - 1);
  if (from >= lines.length && from > 0)
    return { case: 'error', value: { error: `${args.path} has ${lines.length} lines, so none at ${from + 1}` } };
  const to = args.limit === undefined || args.limit <= 0 ? lines.length : Math.min(lines.length, from + args.limit);
  const { text, truncation } = keepHead(lines.slice(from, to).join('\n'));
  const shown = from + (truncation?.outputLines ?? to - from);
  const more =
    shown < lines.length
      ? `\n\n(lines ${from + 1} to ${shown} of ${lines.length}; go on with offset ${shown + 1})`
      : '';
  return { case: 'success', value: { output: text + more, ...(truncation === undefined ? {} : { truncation }) } };
}

/** Why a file was not read, in words. */
export function reasonOf(result: ReadResult['result'], path: string): string {
  switch (result.case) {
    case 'error':
      return result.value.error;
    case 'rejected':
    case 'invalidFile':
      return result.value.reason;
    case 'fileNotFound':
      return `${path} does not exist`;
    case 'permissionDenied':
      return `${path} may not be read`;
    default:
      return `${path} is no text`;
  }
}
