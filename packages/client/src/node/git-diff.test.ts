import { GetDiffRequestSchema, GetDiffRequest_OutputFormat } from '@tandem/protocol/aiserver';
import type { GetDiffResponse } from '@tandem/protocol/aiserver';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeMachine, runExecutor } from '../../test/machine.ts';
import { parseDiff } from './diff-text.ts';
import { gitDiffExecutor } from './git-diff.ts';

const WHO = [
  '-c',
  'user.email=a@example.org',
  '-c',
  'user.name=A',
  '-c',
  'init.defaultBranch=main',
  '-c',
  'commit.gpgsign=false',
];

function repository() {
  const made = makeMachine({ 'a.txt': 'one\ntwo\n', 'old name.txt': 'same\nlines\nhere\n', 'gone.txt': 'x\n' });
  const git = (...args: string[]) =>
    execFileSync('git', [...WHO, ...args], { cwd: made.root, stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  writeFileSync(made.file('a.txt'), 'one\nTWO\nthree\n');
  rmSync(made.file('gone.txt'));
  renameSync(made.file('old name.txt'), made.file('new name.txt'));
  git('add', '-A', '*name.txt');
  writeFileSync(made.file('fresh.txt'), 'a\nb\n');
  const ask = async (request: MessageInitShape<typeof GetDiffRequestSchema>) =>
    (await runExecutor(gitDiffExecutor(made.machine), GetDiffRequestSchema, request))[0]!.value as GetDiffResponse;
  return { ...made, git, ask };
}
const summary = (response: GetDiffResponse) =>
  response.diff!.diffs.map(diff => [diff.from, diff.to, diff.added, diff.removed]).sort();

it('[§10.2-git-diff] tells changes, renames, removals and untracked files against HEAD', async () => {
  const { ask } = repository();
  const response = await ask({ baseRef: 'HEAD', maxUntrackedFiles: 5, returnHeadSha: true });
  expect(summary(response)).toEqual([
    ['/dev/null', 'fresh.txt', 2, 0],
    ['a.txt', 'a.txt', 2, 1],
    ['gone.txt', '/dev/null', 0, 1],
    ['old name.txt', 'new name.txt', 0, 0],
  ]);
  expect(response.diff!.diffs.find(diff => diff.to === 'a.txt')!.chunks).toMatchObject([
    { oldStart: 1, oldLines: 2, newStart: 1, newLines: 3, lines: [' one', '-two', '+TWO', '+three'] },
  ]);
  expect(response).toMatchObject({ headSha: expect.stringMatching(/^[0-9a-f]{40}$/), hasUncommittedChanges: true });
});

it('keeps to the files, commits and forms that are asked for', async () => {
  const { ask, git } = repository();
  expect(summary(await ask({ targetPaths: ['a.txt'], maxUntrackedFiles: 5 }))).toEqual([['a.txt', 'a.txt', 2, 1]]);
  expect(summary(await ask({ committedOnly: true }))).toEqual([]);
  const names = await ask({ targetPaths: ['a.txt'], outputFormat: GetDiffRequest_OutputFormat.NAME_STATUS });
  expect(names.diff!.diffs[0]!.chunks).toEqual([]);
  const whole = await ask({
    targetPaths: ['a.txt'],
    outputFormat: GetDiffRequest_OutputFormat.DIFFS_WITH_BEFORE_AND_AFTER,
  });
  expect(whole.diff!.diffs[0]).toMatchObject({
    beforeFileContents: 'one\ntwo\n',
    afterFileContents: 'one\nTWO\nthree\n',
  });
  git('checkout', '-qb', 'feature');
  git('commit', '-qam', 'second');
  expect(summary(await ask({ mergeBase: true, committedOnly: true, targetPaths: ['a.txt'] }))).toEqual([
    ['a.txt', 'a.txt', 2, 1],
  ]);
});

it('throws where there is no repository, and for names that mean nothing or look like options', async () => {
  const { machine } = makeMachine({ a: 'x' });
  const ask = (request: MessageInitShape<typeof GetDiffRequestSchema>) =>
    runExecutor(gitDiffExecutor(machine), GetDiffRequestSchema, request);
  await expect(ask({ cwd: '/' })).rejects.toThrow(/git rev-parse/);
  const { ask: askIn, file } = repository();
  await expect(askIn({ baseRef: 'no-such' })).rejects.toThrow();
  await expect(askIn({ baseRef: `--output=${file('made')}` })).rejects.toThrow();
});

it('is not misled by lines of a file that look like heads of a diff', () => {
  const text =
    'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/evil\n-diff --git a/y b/y\n++++ b/evil\n+z\n\\ No newline at end of file\n';
  expect(parseDiff(text)).toMatchObject([{ from: 'x', to: 'x', added: 2, removed: 2 }]);
});

it('reads names that git quotes', () => {
  const text =
    'diff --git "a/tab\\there" "b/tab\\there"\nnew file mode 100644\n--- /dev/null\n+++ "b/tab\\there"\n@@ -0,0 +1 @@\n+x\n';
  expect(parseDiff(text)).toMatchObject([{ from: '/dev/null', to: 'tab\there', added: 1 }]);
});
