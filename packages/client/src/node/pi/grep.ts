import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { PiGrepExecResultSchema } from '@tandem/protocol/agent';
import type { PiGrepExecArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../../executor.ts';
import type { Machine } from '../machine.ts';
import { chooseRoot } from '../grep.ts';
import { SEARCH_FLAGS, WITHOUT_GIT, runRipgrep, textOf } from '../ripgrep.ts';
import type { RipgrepRecord } from '../ripgrep.ts';
import { messageOf } from '../workspace.ts';
import { keepHead } from './truncation.ts';

type Result = NonNullable<MessageInitShape<typeof PiGrepExecResultSchema>['result']>;

/** Matches given when the server names no limit. */
const LIMIT = 100;

/** Longest line given, in characters. */
const LINE_CAP = 500;

/** One search may take this long. */
const DEADLINE = 60_000;

/** Searches files and gives lines as `file:number: text`, lines around a match as `file-number- text`. */
export function piGrepExecutor(machine: Machine): Executor<'piGrepArgs'> {
  return {
    kind: 'piGrepArgs',
    async run(args, { signal }): Promise<ExecAnswer> {
      let result: Result;
      try {
        result = { case: 'success', value: await search(machine, args, signal) };
      } catch (error) {
        result = { case: 'error', value: { error: messageOf(error) } };
      }
      return { case: 'piGrepResult', value: create(PiGrepExecResultSchema, { result }) };
    },
  };
}

async function search(machine: Machine, args: PiGrepExecArgs, signal: AbortSignal) {
  const { root, target, isHidden } = await chooseRoot(machine, machine.workspace.resolve(args.path ?? ''));
  const limit = args.limit !== undefined && args.limit > 0 ? args.limit : LIMIT;
  const lines: string[] = [];
  let matches = 0;
  let linesTruncated = false;
  const end = await runRipgrep({
    args: [
      '--json',
      ...SEARCH_FLAGS,
      ...(args.glob === undefined || args.glob === '' ? [] : ['--glob', args.glob]),
      ...WITHOUT_GIT,
      ...(args.ignoreCase === true ? ['--ignore-case'] : []),
      ...(args.literal === true ? ['--fixed-strings'] : []),
      ...(args.context === undefined ? [] : ['--context', String(Math.max(0, args.context))]),
      '--regexp',
      args.pattern,
      ...target,
    ],
    cwd: root,
    separator: '\n',
    signal,
    deadlineMs: DEADLINE,
    onRecord(record) {
      const { type, data } = JSON.parse(record) as RipgrepRecord;
      if ((type !== 'match' && type !== 'context') || isHidden?.(textOf(data.path)) === true) return true;
      if (type === 'match' && matches >= limit) return false;
      if (type === 'match') matches++;
      const text = textOf(data.lines).replace(/\r?\n$/, '');
      if (text.length > LINE_CAP) linesTruncated = true;
      const shown = text.length > LINE_CAP ? `${text.slice(0, LINE_CAP).toWellFormed()}…` : text;
      const mark = type === 'match' ? ':' : '-';
      lines.push(`${textOf(data.path).replace(/^\.\//, '')}${mark}${data.line_number ?? 0}${mark} ${shown}`);
      return true;
    },
  });
  if (!end.stopped && end.code === 2 && lines.length === 0)
    throw new Error(end.complaints.trim() || 'the search failed');
  const { text, truncation } = keepHead(lines.join('\n'));
  return {
    output: lines.length === 0 ? 'nothing found' : text,
    linesTruncated,
    ...(end.stopped ? { matchLimitReached: limit } : {}),
    ...(truncation === undefined ? {} : { truncation }),
  };
}
