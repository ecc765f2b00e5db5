import { ReadArgsSchema } from '@tandem/protocol/agent';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { parseRule } from './permission-rule.ts';
import { readExecutor } from './read.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
async function read(tree: Record<string, string | Uint8Array>, args: MessageInitShape<typeof ReadArgsSchema>) {
  const made = makeMachine(tree);
  const [answer] = await runExecutor(readExecutor(made.machine), ReadArgsSchema, args);
  const [branch, value] = branchOf(answer);
  return { ...made, branch, value };
}
const lines = 'one\ntwo\nthree\nfour\n';

it('[§10.2-read] gives text with its absolute path, its size on disk, and its pieces counted', async () => {
  const { branch, value, file } = await read({ 'a.txt': 'a\r\nb\r\n' }, { path: 'a.txt' });
  expect(branch).toBe('success');
  expect(value).toMatchObject({
    path: file('a.txt'),
    output: { case: 'content', value: 'a\nb\n' },
    totalLines: 3,
    fileSize: 6n,
    truncated: false,
    rangeApplied: false,
  });
});

it('gives an empty file as empty content with one line', async () => {
  const { value } = await read({ empty: '' }, { path: 'empty' });
  expect(value).toMatchObject({ output: { case: 'content', value: '' }, totalLines: 1, fileSize: 0n });
});

it.each([
  [{ offset: 2, limit: 2 }, 'two\nthree', true],
  [{ limit: 2 }, 'one\ntwo', true],
  [{ offset: 3 }, 'three\nfour\n', true],
  [{ offset: -2 }, 'three\nfour\n', true],
  [{ offset: -2, limit: 1 }, 'three', true],
  [{ offset: -99 }, lines, true],
  [{ offset: 99, limit: 3 }, lines, false],
  [{ offset: 0, limit: 0 }, lines, false],
])(
  '[§10.2-read-range] takes the range %j, and the lines of the whole file as the total',
  async (range, content, rangeApplied) => {
    const { value } = await read({ 'a.txt': lines }, { path: 'a.txt', ...range });
    expect(value).toMatchObject({ output: { case: 'content', value: content }, rangeApplied, totalLines: 5 });
  },
);

it('gives an image as bytes', async () => {
  const { value } = await read({ 'a.png': PNG }, { path: 'a.png' });
  expect(value).toMatchObject({ output: { case: 'data' }, fileSize: 10n });
  expect(Buffer.from((value['output'] as { value: Uint8Array }).value).equals(PNG)).toBe(true);
});

it('[§10.2-read-refusals] refuses a directory, a binary file and a pipe, with the reason', async () => {
  expect(await read({ 'src/a': '' }, { path: 'src' })).toMatchObject({
    branch: 'invalidFile',
    value: { reason: 'Path is a directory, not a file' },
  });
  expect(await read({ 'a.dat': Uint8Array.of(1, 0, 2) }, { path: 'a.dat' })).toMatchObject({
    branch: 'invalidFile',
    value: { reason: 'Binary files of type .dat cannot be read as text' },
  });
  const { machine, file } = makeMachine();
  execFileSync('sh', ['-c', 'mkfifo "$0"', file('pipe')]);
  const [answer] = await runExecutor(readExecutor(machine), ReadArgsSchema, { path: 'pipe' });
  expect(branchOf(answer)).toMatchObject(['invalidFile', { reason: 'Path is a device or pipe, not a file' }]);
});

it('[§10.2-read-refusals] says that a file is not there, also below a file', async () => {
  expect((await read({}, { path: 'none/a' })).branch).toBe('fileNotFound');
  expect((await read({ a: '' }, { path: 'a/b' })).branch).toBe('fileNotFound');
});

it('cuts text after 8 MiB and says so', async () => {
  const { value } = await read({ big: 'x'.repeat(9 * 1024 * 1024) }, { path: 'big' });
  expect((value['output'] as { value: string }).value).toHaveLength(8_388_608);
  expect(value).toMatchObject({ truncated: true, fileSize: 9_437_184n });
});

it('reads outside of the workspace too', async () => {
  const { machine, base } = makeMachine();
  writeFileSync(`${base}/outside.txt`, 'seen');
  const [answer] = await runExecutor(readExecutor(machine), ReadArgsSchema, { path: '../outside.txt' });
  expect(branchOf(answer)).toMatchObject(['success', { output: { value: 'seen' } }]);
});

it.skipIf(process.getuid?.() === 0)('says that a file is not for us to read', async () => {
  const { machine, file } = makeMachine({ secret: 'x' });
  chmodSync(file('secret'), 0);
  const [answer] = await runExecutor(readExecutor(machine), ReadArgsSchema, { path: 'secret' });
  expect(branchOf(answer)[0]).toBe('permissionDenied');
});

it('[product-permission-rules] refuses what a rule forbids to read, also through a link', async () => {
  const { machine, file } = makeMachine(
    { '.env': 'KEY=secret', 'src/a': 'x' },
    { rules: [parseRule('deny', 'read: .env')] },
  );
  symlinkSync(file('.env'), file('src/link'));
  for (const path of ['.env', 'src/link']) {
    expect(branchOf((await runExecutor(readExecutor(machine), ReadArgsSchema, { path }))[0])).toMatchObject([
      'rejected',
      { reason: 'the rule "read: .env" forbids it' },
    ]);
  }
  expect(branchOf((await runExecutor(readExecutor(machine), ReadArgsSchema, { path: 'src/a' }))[0])[0]).toBe('success');
});
