import type { MessageInitShape } from '@bufbuild/protobuf';
import { LsArgsSchema } from '@tandem/protocol/agent';
import type { LsDirectoryTreeNode } from '@tandem/protocol/agent';
import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { lsExecutor } from './ls.ts';

async function list(
  tree: Record<string, string>,
  args: MessageInitShape<typeof LsArgsSchema>,
  made = makeMachine(tree),
) {
  const [answer] = await runExecutor(lsExecutor(made.machine), LsArgsSchema, args);
  const [branch, value] = branchOf(answer);
  return { ...made, branch, value, root: value['directoryTreeRoot'] as LsDirectoryTreeNode };
}
/** Paths below a node; folders end in a slash, with a `?` when their content was not named. */
function names(node: LsDirectoryTreeNode): string[] {
  return [
    ...node.childrenDirs.flatMap(child => [
      `${child.absPath.slice(node.absPath.length + 1)}/${child.childrenWereProcessed ? '' : '?'}`,
      ...names(child).map(name => `${child.absPath.slice(node.absPath.length + 1)}/${name}`),
    ]),
    ...node.childrenFiles.map(file => file.name),
  ];
}

it('[§10.2-ls] lists a tree with hidden files, without .git and what git ignores', async () => {
  const { root, branch } = await list(
    {
      'src/deep/a.ts': '',
      'src/b.ts': '',
      '.env': '',
      '.gitignore': 'out\n*.log\n',
      'out/x': '',
      'a.log': '',
      '.git/config': '',
    },
    { path: '' },
  );
  expect(branch).toBe('success');
  expect(names(root)).toEqual(['src/', 'src/deep/', 'src/deep/a.ts', 'src/b.ts', '.env', '.gitignore']);
  expect(root).toMatchObject({ numFiles: 4, childrenWereProcessed: true, fullSubtreeExtensionCounts: { '.ts': 2 } });
});

it('[§10.2-ls] leaves out what it is told to', async () => {
  const { root } = await list(
    { 'src/a.ts': '', 'pixel.png': '', 'deep/pixel.png': '', 'deep/b': '' },
    { path: '', ignore: ['src', '*.png'] },
  );
  expect(names(root)).toEqual(['deep/', 'deep/b']);
});

it('shows an empty folder', async () => {
  const made = makeMachine({ a: '' });
  mkdirSync(made.file('void'));
  expect(names((await list({}, { path: '' }, made)).root)).toEqual(['void/', 'a']);
});

it('lists an empty folder as empty', async () => {
  expect(await list({}, { path: '' })).toMatchObject({
    branch: 'success',
    root: { numFiles: 0, childrenWereProcessed: true },
  });
});

it('counts, instead of naming, what is too much', async () => {
  const tree = Object.fromEntries(Array.from({ length: 3_100 }, (_, index) => [`wide/f${index}.txt`, '']));
  const { root } = await list({ ...tree, 'near/a': '' }, { path: '' });
  expect(names(root)).toEqual(['near/', 'near/a', 'wide/?']);
  expect(root.childrenDirs[1]).toMatchObject({ numFiles: 3_100, fullSubtreeExtensionCounts: { '.txt': 3_100 } });
});

it('reports a missing path and a file', async () => {
  expect(await list({}, { path: 'none' })).toMatchObject({
    branch: 'error',
    value: { error: expect.stringMatching(/does not exist/) },
  });
  expect(await list({ a: '' }, { path: 'a' })).toMatchObject({
    branch: 'error',
    value: { error: expect.stringMatching(/not a directory/) },
  });
});
