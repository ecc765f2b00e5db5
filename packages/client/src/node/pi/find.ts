import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiFindExecResultSchema } from '@tandem/protocol/agent';
import type { PiFindExecArgs } from '@tandem/protocol/agent';
import { stat } from 'node:fs/promises';
import type { ExecAnswer, Executor } from '../../executor.ts';
import { hiddenBelow } from '../hidden-files.ts';
import type { Machine } from '../machine.ts';
import { SEARCH_FLAGS, WITHOUT_GIT, runRipgrep } from '../ripgrep.ts';
import { messageOf } from '../workspace.ts';
import { keepHead } from './truncation.ts';

type Result = NonNullable<MessageInitShape<typeof PiFindExecResultSchema>['result']>;

/** Paths given when the server names no limit. */
const LIMIT = 1_000;

/** One search may take this long. */
const DEADLINE = 60_000;

/** Finds files by a glob, as paths from the folder that is searched. What git ignores is left out. */
export function piFindExecutor(machine: Machine): Executor<'piFindArgs'> {
  return {
    kind: 'piFindArgs',
    async run(args, { signal }): Promise<ExecAnswer> {
      let result: Result;
      try {
        result = { case: 'success', value: await find(machine, args, signal) };
      } catch (error) {
        result = { case: 'error', value: { error: messageOf(error) } };
      }
      return { case: 'piFindResult', value: create(PiFindExecResultSchema, { result }) };
    },
  };
}

async function find(machine: Machine, args: PiFindExecArgs, signal: AbortSignal) {
  const folder = machine.workspace.resolve(args.path ?? '');
  if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a directory`);
  const isHidden = await hiddenBelow(machine, folder);
  const limit = args.limit !== undefined && args.limit > 0 ? args.limit : LIMIT;
  const paths: string[] = [];
  const end = await runRipgrep({
    args: ['--files', '--null', ...SEARCH_FLAGS, '--glob', args.pattern, ...WITHOUT_GIT],
    cwd: folder,
    separator: '\0',
    signal,
    deadlineMs: DEADLINE,
    onRecord: record =>
      isHidden?.(record) === true || (paths.length < limit && paths.push(record.replace(/^\.\//, '')) > 0),
  });
  if (!end.stopped && end.code === 2 && paths.length === 0)
    throw new Error(end.complaints.trim() || 'the search failed');
  const { text, truncation } = keepHead(paths.sort().join('\n'));
  return {
    output: paths.length === 0 ? 'nothing found' : text,
    ...(end.stopped ? { resultLimitReached: limit } : {}),
    ...(truncation === undefined ? {} : { truncation }),
  };
}
