import { create } from '@bufbuild/protobuf';
import { GetDiffRequest_OutputFormat, GetDiffResponseSchema, GitDiff_DiffType } from '@tandem/protocol/aiserver';
import type { FileDiff, GetDiffRequest, GetDiffResponse } from '@tandem/protocol/aiserver';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecAnswer, Executor } from '../executor.ts';
import { addedFile, parseDiff } from './diff-text.ts';
import { runGitCommand } from './git-command.ts';
import type { Machine } from './machine.ts';
import { decodeText } from './text-form.ts';

/** One git command may take this long. */
const DEADLINE = 30_000;

/** Longest diff given when the server names no bound. */
const DIFF_CAP = 8 * 1024 * 1024;

/** Longest file whose content goes along. */
const CONTENT_CAP = 1024 * 1024;

/** Files whose content goes along when the server names no bound. */
const CONTENTS_CAP = 100;

/**
 * The changes of a repository (§10.2): between a base, HEAD when none is named, and the files on disk or another commit. Untracked files
 * count as added. Rejects where there is no repository, or a name means nothing in it; that reaches the server as `throw`.
 */
export function gitDiffExecutor(machine: Machine): Executor<'gitDiffRequest'> {
  return {
    kind: 'gitDiffRequest',
    async run(request, { signal }): Promise<ExecAnswer> {
      return { case: 'gitDiffResponse', value: await diffRepository(machine, request, signal) };
    },
  };
}

type Git = (...args: string[]) => Promise<string>;

async function diffRepository(
  machine: Machine,
  request: GetDiffRequest,
  signal: AbortSignal,
): Promise<GetDiffResponse> {
  const cwd = machine.workspace.resolve(request.cwd);
  const maxBytes = Math.min(request.maxResponseBytes ?? DIFF_CAP, DIFF_CAP);
  let isCut = false;
  const git: Git = async (...args) => {
    const output = await runGitCommand({ cwd, args, signal, deadlineMs: DEADLINE, maxBytes });
    isCut ||= output.cut;
    if (output.code !== 0 && !output.cut)
      throw new Error(`git ${args[0]}: ${output.complaints.trim() || `exit code ${output.code}`}`);
    return output.stdout.toString('utf8');
  };
  const top = (await git('rev-parse', '--show-toplevel')).trim();
  const { base, target } = await chooseCommits(git, request);
  const paths = request.targetPaths.length === 0 ? [] : ['--', ...request.targetPaths];
  const all = parseDiff(
    await git(
      'diff',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--find-renames',
      `--unified=${Math.max(0, request.unifiedContextLines ?? 3)}`,
      ...(request.includeSpaceChanges ? [] : ['--ignore-cr-at-eol']),
      base,
      ...(target === undefined ? [] : [target]),
      ...paths,
    ),
  );
  if (target === undefined && request.maxUntrackedFiles > 0) {
    const names = (await git('ls-files', '--others', '--exclude-standard', '--full-name', '-z', ...paths)).split('\0');
    const chosen = names.filter(name => name !== '').slice(0, request.maxUntrackedFiles);
    all.push(...(await Promise.all(chosen.map(name => untracked(top, name)))).filter(diff => diff !== undefined));
  }
  const diffs = await readable(machine, top, all);
  const format = request.outputFormat ?? GetDiffRequest_OutputFormat.UNSPECIFIED;
  if (isNameOnly(format)) for (const diff of diffs) diff.chunks = [];
  const omitted =
    format === GetDiffRequest_OutputFormat.DIFFS_WITH_BEFORE_AND_AFTER &&
    (await addContents({ git, top, base, target, diffs, cap: request.maxFilesWithContents ?? CONTENTS_CAP }));
  const headSha = request.returnHeadSha === true ? await headOf(git) : undefined;
  return create(GetDiffResponseSchema, {
    diff: {
      diffs,
      diffType: request.mergeBase ? GitDiff_DiffType.DIFF_FROM_BRANCH_TO_MAIN : GitDiff_DiffType.DIFF_TO_HEAD,
      ...(omitted || isCut ? { fileContentsOmitted: true } : {}),
    },
    ...(headSha === undefined ? {} : { headSha }),
    hasUncommittedChanges: (await git('status', '--porcelain', '--untracked-files=no')).trim() !== '',
  });
}

/** Git's own name for a tree with nothing in it, against which everything is new. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** What is compared: a base with the files on disk, or with a commit when one is named or only commits are wanted. */
async function chooseCommits(git: Git, request: GetDiffRequest): Promise<{ base: string; target: string | undefined }> {
  const target = request.ref !== '' ? await commitOf(git, request.ref) : request.committedOnly ? 'HEAD' : undefined;
  const named = request.baseRef !== '' ? request.baseRef : request.mergeBase ? await defaultBranch(git) : 'HEAD';
  const base = named === 'HEAD' ? ((await headOf(git)) ?? EMPTY_TREE) : await commitOf(git, named);
  return { base: request.mergeBase ? (await git('merge-base', base, target ?? 'HEAD')).trim() : base, target };
}

/** The hash behind a name; so a name that looks like an option never reaches another command. */
async function commitOf(git: Git, name: string): Promise<string> {
  return (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)).trim();
}

/** The commit that is checked out; undefined in a repository that has none yet. */
async function headOf(git: Git): Promise<string | undefined> {
  return await commitOf(git, 'HEAD').catch(() => undefined);
}

async function defaultBranch(git: Git): Promise<string> {
  for (const name of ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master']) {
    const found = await commitOf(git, name).catch(() => undefined); // the next name is tried
    if (found !== undefined) return found;
  }
  throw new Error('the default branch of this repository cannot be told; name a base');
}

/** The differences of files that no rule on reading hides, under any of their names. */
async function readable(machine: Machine, top: string, diffs: FileDiff[]): Promise<FileDiff[]> {
  const { hides } = machine.permission;
  if (hides === undefined) return diffs;
  const kept: FileDiff[] = [];
  for (const diff of diffs) {
    const named = [diff.from, diff.to].filter(name => name !== '/dev/null').map(name => join(top, name));
    const real = await Promise.all(named.map(path => machine.workspace.real(path)));
    if (![...named, ...real].some(path => hides(path) !== undefined)) kept.push(diff);
  }
  return kept;
}

async function untracked(top: string, name: string): Promise<FileDiff | undefined> {
  const bytes = await contentOf(join(top, name));
  const text = bytes === undefined ? undefined : decodeText(bytes)?.text;
  return addedFile(name, text);
}

async function contentOf(path: string): Promise<Uint8Array | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= CONTENT_CAP ? await readFile(path) : undefined;
  } catch {
    return undefined; // it went away in between, or is not for us to read
  }
}

/** Puts both contents to each difference; true when some were left out. */
async function addContents(work: {
  git: Git;
  top: string;
  base: string;
  target: string | undefined;
  diffs: FileDiff[];
  cap: number;
}): Promise<boolean> {
  const { git, top, base, target, diffs, cap } = work;
  const show = (commit: string, path: string) => git('show', `${commit}:${path}`).catch(() => undefined); // not in that commit
  for (const diff of diffs.slice(0, cap)) {
    const before = diff.from === '/dev/null' ? undefined : await show(base, diff.from);
    const after =
      diff.to === '/dev/null'
        ? undefined
        : target === undefined
          ? textOf(await contentOf(join(top, diff.to)))
          : await show(target, diff.to);
    if (before !== undefined && before.length <= CONTENT_CAP) diff.beforeFileContents = before;
    if (after !== undefined && after.length <= CONTENT_CAP) diff.afterFileContents = after;
  }
  return diffs.length > cap;
}

function isNameOnly(format: GetDiffRequest_OutputFormat): boolean {
  return (
    format === GetDiffRequest_OutputFormat.NAME_STATUS || format === GetDiffRequest_OutputFormat.NAME_STATUS_AND_NUMSTAT
  );
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
}
