import { create } from '@bufbuild/protobuf';
import {
  GrepContentMatchSchema,
  GrepContentResultSchema,
  GrepCountResultSchema,
  GrepFileMatchSchema,
  GrepFilesResultSchema,
  GrepResultSchema,
} from '@tandem/protocol/agent';
import type { GrepArgs, GrepFileMatch, GrepResult, GrepUnionResult } from '@tandem/protocol/agent';
import { stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Executor } from '../executor.ts';
import { hiddenBelow } from './hidden-files.ts';
import type { Machine } from './machine.ts';
import { SEARCH_FLAGS, WITHOUT_GIT, runRipgrep, textOf } from './ripgrep.ts';
import type { RipgrepEnd, RipgrepRecord } from './ripgrep.ts';
import { codeOf, messageOf } from './workspace.ts';

/** Lines of a content search, matches and context together, after which it is cut. */
const LINES_CAP = 2_000;

/** Files of the other modes after which a search is cut; the server shows far fewer. */
const FILES_CAP = 100_000;

/** Longest line given, in characters. */
const LINE_CAP = 2_000;

/** One search may take this long. */
const DEADLINE = 60_000;

type Union = GrepUnionResult['result'];
type Search = { args: string[]; cwd: string; signal: AbortSignal; isHidden: ((file: string) => boolean) | undefined };

/**
 * Searches with ripgrep: matching lines, matching files, or counts; with an empty pattern and `files_with_matches` it lists files (R32).
 * Head limit and offset are the server's to apply (R30). Files are named from the root on, as `./src/one.ts`.
 */
export function grepExecutor(machine: Machine): Executor<'grepArgs'> {
  return {
    kind: 'grepArgs',
    async run(args, { signal }) {
      return { case: 'grepResult', value: await grep(machine, args, signal) };
    },
  };
}

async function grep(machine: Machine, args: GrepArgs, signal: AbortSignal): Promise<GrepResult> {
  const outputMode = args.outputMode ?? 'content';
  try {
    const path = machine.workspace.resolve(args.path ?? '');
    const { root, target, isHidden } = await chooseRoot(machine, path);
    const search = { args: [...flags(args), ...target], cwd: root, signal, isHidden };
    const result = await searchIn(outputMode, args.pattern, search);
    const value = {
      pattern: args.pattern,
      path: args.path ?? '',
      outputMode,
      workspaceResults: { [root]: { result } },
    };
    return create(GrepResultSchema, { result: { case: 'success', value } });
  } catch (error) {
    return create(GrepResultSchema, { result: { case: 'error', value: { error: messageOf(error) } } });
  }
}

/**
 * Below the workspace files are named from its root; elsewhere from the folder that was asked for. `isHidden` tells of a file so named whether a
 * rule on reading hides it; it is undefined when there are none. Rejects when there is nothing at the path, or a rule hides it.
 */
export async function chooseRoot(
  machine: Machine,
  path: string,
): Promise<{ root: string; target: string[]; isHidden: ((file: string) => boolean) | undefined }> {
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (error) {
    throw new Error(codeOf(error) === 'ENOENT' ? `path does not exist: ${path}` : messageOf(error), { cause: error });
  }
  const root = machine.workspace.contains(path) ? machine.workspace.root : isFolder ? path : dirname(path);
  const way = relative(root, resolve(path));
  const start = way === '' ? './' : `./${way}`;
  const isHiddenBelow = await hiddenBelow(machine, path);
  return {
    root,
    target: ['--', start],
    isHidden: isHiddenBelow && (file => isHiddenBelow(file.slice(start.length))),
  };
}

function flags(args: GrepArgs): string[] {
  const flag: string[] = [...SEARCH_FLAGS];
  if (args.glob !== undefined && args.glob !== '') flag.push('--glob', args.glob);
  flag.push(...WITHOUT_GIT);
  if (args.type !== undefined && args.type !== '') flag.push('--type', args.type);
  if (args.sort !== undefined && args.sort !== '' && args.sort !== 'none') {
    flag.push(args.sortAscending === false ? '--sortr' : '--sort', args.sort);
  }
  if (args.pattern === '') return flag;
  flag.push(args.caseInsensitive === true ? '--ignore-case' : '--case-sensitive');
  if (args.multiline === true) flag.push('--multiline', '--multiline-dotall');
  if (args.context !== undefined) flag.push('--context', String(Math.max(0, args.context)));
  if (args.contextBefore !== undefined) flag.push('--before-context', String(Math.max(0, args.contextBefore)));
  if (args.contextAfter !== undefined) flag.push('--after-context', String(Math.max(0, args.contextAfter)));
  return flag;
}

function searchIn(outputMode: string, pattern: string, search: Search): Promise<Union> {
  switch (outputMode) {
    case 'content':
      return searchContent(pattern, search);
    case 'files_with_matches':
      return searchFiles(pattern, search);
    case 'count':
      return searchCounts(pattern, search);
    default:
      throw new Error(`output_mode is ${outputMode}; it has to be content, files_with_matches or count`);
  }
}

async function searchContent(pattern: string, search: Search): Promise<Union> {
  const files = new Map<string, GrepFileMatch>();
  let lines = 0;
  let matched = 0;
  const end = await runRipgrep({
    args: ['--json', '--regexp', pattern, ...search.args],
    cwd: search.cwd,
    separator: '\n',
    signal: search.signal,
    deadlineMs: DEADLINE,
    onRecord(record) {
      const { type, data } = JSON.parse(record) as RipgrepRecord;
      if (type !== 'match' && type !== 'context') return true;
      const name = textOf(data.path);
      if (search.isHidden?.(name) === true) return true;
      let file = files.get(name);
      if (file === undefined) files.set(name, (file = create(GrepFileMatchSchema, { file: name })));
      // A match over several lines is one record; each of its lines counts.
      const found = textOf(data.lines)
        .replace(/\r?\n$/, '')
        .split(/\r?\n/);
      for (const [index, line] of found.entries()) {
        if (lines >= LINES_CAP) return false;
        lines++;
        if (type === 'match') matched++;
        file.matches.push(
          create(GrepContentMatchSchema, {
            lineNumber: (data.line_number ?? 0) + index,
            content: line.length > LINE_CAP ? line.slice(0, LINE_CAP).toWellFormed() : line,
            contentTruncated: line.length > LINE_CAP,
            isContextLine: type === 'context',
          }),
        );
      }
      return true;
    },
  });
  checkEnd(end, files.size);
  const matches = [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
  const value = {
    matches,
    totalLines: lines,
    totalMatchedLines: matched,
    clientTruncated: end.stopped,
    ripgrepTruncated: end.skipped,
  };
  return { case: 'content', value: create(GrepContentResultSchema, value) };
}

async function searchFiles(pattern: string, search: Search): Promise<Union> {
  const files: string[] = [];
  const what = pattern === '' ? ['--files'] : ['--files-with-matches', '--regexp', pattern];
  const end = await runRipgrep({
    args: ['--null', ...what, ...search.args],
    cwd: search.cwd,
    separator: '\0',
    signal: search.signal,
    deadlineMs: DEADLINE,
    onRecord: record => search.isHidden?.(record) === true || files.push(record) < FILES_CAP,
  });
  checkEnd(end, files.length);
  if (!search.args.includes('--sort') && !search.args.includes('--sortr')) files.sort();
  const value = { files, totalFiles: files.length, clientTruncated: end.stopped };
  return { case: 'files', value: create(GrepFilesResultSchema, value) };
}

async function searchCounts(pattern: string, search: Search): Promise<Union> {
  const counts: { file: string; count: number }[] = [];
  const end = await runRipgrep({
    args: ['--null', '--count', '--with-filename', '--regexp', pattern, ...search.args],
    cwd: search.cwd,
    separator: '\n',
    signal: search.signal,
    deadlineMs: DEADLINE,
    onRecord(record) {
      const [file = '', count = ''] = record.split('\0');
      if (search.isHidden?.(file) === true) return true;
      return counts.push({ file, count: Number(count) }) < FILES_CAP;
    },
  });
  checkEnd(end, counts.length);
  counts.sort((a, b) => (a.file < b.file ? -1 : 1));
  const totalMatches = counts.reduce((sum, one) => sum + one.count, 0);
  const value = { counts, totalFiles: counts.length, totalMatches, clientTruncated: end.stopped };
  return { case: 'count', value: create(GrepCountResultSchema, value) };
}

/** An error is one only when nothing was found: a single unreadable folder does not spoil the rest. */
function checkEnd(end: RipgrepEnd, found: number): void {
  if (end.stopped || end.code === 0 || end.code === 1 || found > 0) return;
  throw new Error(end.complaints.trim() || `ripgrep ended with ${end.code}`);
}
