import type { MessageInitShape } from '@bufbuild/protobuf';
import { GrepArgsSchema } from '@tandem/protocol/agent';
import type { GrepSuccess } from '@tandem/protocol/agent';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { grepExecutor } from './grep.ts';

const tree = {
  'src/one.ts': 'export const alpha = 1;\nconst beta = 2;\n// TODO alpha\n',
  'src/deep/two.py': 'alpha = 3\nprint(alpha)\n',
  'src/deep/three.ts': 'let gamma = "Alpha";\n',
  '.hidden/four.ts': 'alpha\n',
  'ignored/five.ts': 'alpha\n',
  '.gitignore': 'ignored\n',
  '.git/six.ts': 'alpha\n',
};
type Args = MessageInitShape<typeof GrepArgsSchema>;
async function grep(args: Args, made = makeMachine(tree)) {
  const [answer] = await runExecutor(grepExecutor(made.machine), GrepArgsSchema, args);
  const [branch, value] = branchOf(answer);
  if (branch !== 'success') return { ...made, error: value['error'] as string, success: undefined, one: undefined };
  const success = value as unknown as GrepSuccess;
  return { ...made, error: undefined, success, one: success.workspaceResults[made.root]?.result };
}
async function lines(args: Args) {
  const { one } = await grep(args);
  if (one?.case !== 'content') throw new Error('no content');
  return one.value.matches.flatMap(({ file, matches }) =>
    matches.map(match => `${file}${match.isContextLine ? '-' : ':'}${match.lineNumber} ${match.content}`),
  );
}
async function files(args: Args) {
  const { one } = await grep({ outputMode: 'files_with_matches', ...args });
  if (one?.case !== 'files') throw new Error('no files');
  expect(one.value.totalFiles).toBe(one.value.files.length);
  return one.value.files;
}

it('[§10.2-grep] gives matching lines by file, named from the root on: hidden ones too, ignored ones and .git not', async () => {
  expect(await lines({ pattern: 'alpha' })).toEqual([
    './.hidden/four.ts:1 alpha',
    './src/deep/two.py:1 alpha = 3',
    './src/deep/two.py:2 print(alpha)',
    './src/one.ts:1 export const alpha = 1;',
    './src/one.ts:3 // TODO alpha',
  ]);
});

it('gives context lines, marked as such', async () => {
  expect(await lines({ pattern: 'beta', contextBefore: 1, contextAfter: 1 })).toEqual([
    './src/one.ts-1 export const alpha = 1;',
    './src/one.ts:2 const beta = 2;',
    './src/one.ts-3 // TODO alpha',
  ]);
  expect(await lines({ pattern: 'print', context: 1 })).toEqual([
    './src/deep/two.py-1 alpha = 3',
    './src/deep/two.py:2 print(alpha)',
  ]);
});

it('counts lines in all, and those that match', async () => {
  const { one } = await grep({ pattern: 'beta', context: 1 });
  expect(one?.value).toMatchObject({ totalLines: 3, totalMatchedLines: 1, clientTruncated: false });
});

it('[§10.2-grep] gives matching files, and counts', async () => {
  expect(await files({ pattern: 'alpha', path: 'src' })).toEqual(['./src/deep/two.py', './src/one.ts']);
  const { one } = await grep({ pattern: 'alpha', path: 'src', outputMode: 'count' });
  expect(one).toMatchObject({
    case: 'count',
    value: {
      totalFiles: 2,
      totalMatches: 4,
      counts: [
        { file: './src/deep/two.py', count: 2 },
        { file: './src/one.ts', count: 2 },
      ],
    },
  });
});

it('takes glob and type', async () => {
  expect(await files({ pattern: 'alpha', glob: '*.py' })).toEqual(['./src/deep/two.py']);
  expect(await files({ pattern: 'alpha', type: 'py' })).toEqual(['./src/deep/two.py']);
  expect(await files({ pattern: 'alpha', glob: '*', path: '.git' })).toEqual([]);
});

it('lists files for an empty pattern', async () => {
  expect(await files({ pattern: '', glob: '**/*.ts' })).toEqual([
    './.hidden/four.ts',
    './src/deep/three.ts',
    './src/one.ts',
  ]);
});

it('takes case and several lines into account', async () => {
  expect(await files({ pattern: 'ALPHA', path: 'src' })).toEqual([]);
  expect(await files({ pattern: 'ALPHA', path: 'src', caseInsensitive: true })).toHaveLength(3);
  expect(await files({ pattern: 'alpha = 3\\nprint', multiline: true })).toEqual(['./src/deep/two.py']);
  expect(await lines({ pattern: 'alpha = 3\\nprint', multiline: true })).toEqual([
    './src/deep/two.py:1 alpha = 3',
    './src/deep/two.py:2 print(alpha)',
  ]);
});

it('takes a pattern that looks like a flag', async () => {
  expect((await grep({ pattern: '--files' })).one).toMatchObject({ case: 'content', value: { matches: [] } });
});

it('gives an empty branch when nothing matches', async () => {
  expect((await grep({ pattern: 'zzz' })).one).toMatchObject({
    case: 'content',
    value: { matches: [], totalLines: 0 },
  });
  expect(await files({ pattern: 'zzz' })).toEqual([]);
});

it('[§10.2-grep] reports a bad pattern, a missing path and an unknown mode', async () => {
  expect((await grep({ pattern: '(' })).error).toMatch(/unclosed group/);
  expect((await grep({ pattern: 'x', path: 'none' })).error).toMatch(/does not exist/);
  expect((await grep({ pattern: 'x', outputMode: 'lines' })).error).toMatch(/output_mode is lines/);
});

it('names files outside of the workspace from the folder that was asked for', async () => {
  const made = makeMachine();
  writeFileSync(join(made.base, 'note.txt'), 'alpha\n');
  const { success } = await grep({ pattern: 'alpha', path: '../note.txt' }, made);
  expect(success?.workspaceResults[made.base]?.result).toMatchObject({
    case: 'content',
    value: { matches: [{ file: './note.txt' }] },
  });
});

it('cuts after 2,000 lines, and cuts long lines', async () => {
  const { one } = await grep({ pattern: 'x' }, makeMachine({ many: 'x\n'.repeat(2_500), long: 'x'.repeat(5_000) }));
  if (one?.case !== 'content') throw new Error('no content');
  expect(one.value).toMatchObject({ totalLines: 2_000, clientTruncated: true });
  const long = (await grep({ pattern: 'x', path: 'long' }, makeMachine({ long: 'x'.repeat(5_000) }))).one;
  expect(long).toMatchObject({
    value: { matches: [{ matches: [{ contentTruncated: true, content: 'x'.repeat(2_000) }] }] },
  });
});
