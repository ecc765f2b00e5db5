import {
  PiBashExecArgsSchema,
  PiEditExecArgsSchema,
  PiFindExecArgsSchema,
  PiGrepExecArgsSchema,
  PiLsExecArgsSchema,
  PiReadExecArgsSchema,
  PiWriteExecArgsSchema,
} from '@tandem/protocol/agent';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../../test/machine.ts';
import { piBashExecutor } from './bash.ts';
import { applyEdits, hunksOf } from './edit-text.ts';
import { piEditExecutor } from './edit.ts';
import { piFindExecutor } from './find.ts';
import { piGrepExecutor } from './grep.ts';
import { piLsExecutor } from './ls.ts';
import { piReadExecutor } from './read.ts';
import { piWriteExecutor } from './write.ts';

const NUMBERS = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join('\n');

it('[§10.2-pi-read] reads lines from an offset, says where to go on, and keeps to its bounds', async () => {
  const { machine } = makeMachine({ long: NUMBERS, bin: Buffer.from([0, 1]), wide: 'x'.repeat(100_000) });
  const read = async (args: object) =>
    branchOf((await runExecutor(piReadExecutor(machine), PiReadExecArgsSchema, args))[0]);
  expect(await read({ path: 'long', offset: 2, limit: 2 })).toMatchObject([
    'success',
    { output: 'line 2\nline 3\n\n(lines 2 to 3 of 5000; go on with offset 4)' },
  ]);
  expect(await read({ path: 'long' })).toMatchObject([
    'success',
    { truncation: { truncated: true, truncatedBy: 'lines', totalLines: 5000, outputLines: 2000 } },
  ]);
  expect(await read({ path: 'wide' })).toMatchObject([
    'success',
    { truncation: { firstLineExceedsLimit: true, outputBytes: 51_200 } },
  ]);
  for (const args of [{ path: 'none' }, { path: 'bin' }, { path: 'long', offset: 6000 }, { path: '.' }])
    expect((await read(args))[0]).toBe('error');
});

it('[§10.2-pi-write] writes a file in the workspace and nowhere else', async () => {
  const { machine, file } = makeMachine();
  const write = async (args: object) =>
    branchOf((await runExecutor(piWriteExecutor(machine), PiWriteExecArgsSchema, args))[0]);
  expect((await write({ path: 'a/b.txt', content: 'hé' }))[0]).toBe('success');
  expect(readFileSync(file('a/b.txt'), 'utf8')).toBe('hé');
  expect((await write({ path: '../b.txt', content: 'x' }))[0]).toBe('rejected');
  expect((await write({ path: 'a', content: 'x' }))[0]).toBe('error');
});

it('[§10.2-pi-edit] replaces texts all or none, and keeps the line ends of the file', async () => {
  const { machine, file } = makeMachine({ a: 'one\r\ntwo\r\nthree\r\n' });
  const edit = async (...edits: [string, string][]) =>
    branchOf(
      (
        await runExecutor(piEditExecutor(machine), PiEditExecArgsSchema, {
          path: 'a',
          edits: edits.map(([oldText, newText]) => ({ oldText, newText })),
        })
      )[0],
    );
  expect(await edit(['one\ntwo', '1\n2'], ['three', '3'])).toMatchObject([
    'success',
    { diff: '@@ -1,4 +1,4 @@\n-one\n-two\n+1\n+2\n-three\n+3\n \n', firstChangedLine: 1 },
  ]);
  expect(readFileSync(file('a'), 'utf8')).toBe('1\r\n2\r\n3\r\n');
  expect(await edit(['1', 'x'], ['none', 'y'])).toMatchObject([
    'error',
    { error: 'a: the old text of edit 2 is not in the file' },
  ]);
  expect(readFileSync(file('a'), 'utf8')).toBe('1\r\n2\r\n3\r\n');
});

it.each([
  [[['a', 'b']], /more than once/],
  [[['', 'b']], /is empty/],
  [
    [
      ['xay', 'b'],
      ['ya', 'c'],
    ],
    /overlap/,
  ],
  [[['x', 'x']], /change nothing/],
  [[], /no edit/],
])('refuses the edits %j', (edits, message) => {
  const applied = applyEdits(
    'xaya',
    (edits as [string, string][]).map(([oldText, newText]) => ({ oldText, newText })),
  );
  expect(applied).toEqual({ problem: expect.stringMatching(message as RegExp) });
});

it('makes a hunk for each place, and one of places that are near', () => {
  const before = NUMBERS.split('\n').slice(0, 40).join('\n');
  const applied = applyEdits(before, [
    { oldText: 'line 10\n', newText: '' },
    { oldText: 'line 12\n', newText: 'LINE 12\nmore\nmore\n' },
    { oldText: 'line 30', newText: 'LINE 30' },
  ]);
  if ('problem' in applied) throw new Error(applied.problem);
  const { text, firstChangedLine } = hunksOf(before, applied.places);
  expect(text.split('\n').filter(line => line.startsWith('@@'))).toEqual(['@@ -7,10 +7,11 @@', '@@ -27,7 +28,7 @@']);
  expect(firstChangedLine).toBe(10);
  const after = text
    .split('\n')
    .filter(line => /^[ +]/.test(line))
    .map(line => line.slice(1));
  expect(applied.text).toContain(after.slice(0, 11).join('\n'));
});

it('[§10.2-pi-bash] gives output and tells how a command ended', async () => {
  const { machine } = makeMachine();
  const bash = async (args: object) =>
    branchOf((await runExecutor(piBashExecutor(machine), PiBashExecArgsSchema, args))[0]);
  expect(await bash({ command: 'echo out; echo err >&2' })).toMatchObject([
    'success',
    { output: expect.stringMatching(/out[\s\S]*err|err[\s\S]*out/) },
  ]);
  expect(await bash({ command: 'true' })).toMatchObject(['success', { output: '(no output)' }]);
  expect(await bash({ command: 'echo pi; exit 2' })).toMatchObject([
    'error',
    { error: 'pi\n\nthe command ended with exit code 2' },
  ]);
  expect(await bash({ command: 'sleep 60', timeout: 0.2 })).toMatchObject([
    'error',
    { error: 'the command was stopped after 0.2 s' },
  ]);
  const [, long] = await bash({ command: 'seq 1 100000' });
  expect(long).toMatchObject({
    output: expect.stringMatching(/\n100000$/),
    truncation: { truncated: true, truncatedBy: 'lines' },
  });
  expect(readFileSync(long['fullOutputPath'] as string, 'utf8').startsWith('1\n2\n')).toBe(true);
});

it('[product-permission-read-only] refuses to run, write and edit in a read-only run', async () => {
  const { machine } = makeMachine({ a: 'x' }, { mode: 'read-only' });
  const branches = [
    (await runExecutor(piBashExecutor(machine), PiBashExecArgsSchema, { command: 'touch made' }))[0],
    (await runExecutor(piWriteExecutor(machine), PiWriteExecArgsSchema, { path: 'b', content: '' }))[0],
    (
      await runExecutor(piEditExecutor(machine), PiEditExecArgsSchema, {
        path: 'a',
        edits: [{ oldText: 'x', newText: 'y' }],
      })
    )[0],
  ].map(answer => branchOf(answer)[0]);
  expect(branches).toEqual(['error', 'rejected', 'rejected']);
});

it('[§10.2-pi-search] searches, finds and lists', async () => {
  const { machine } = makeMachine({
    'src/one.ts': 'alpha\nbeta\n',
    'src/two.py': 'alpha alpha\n',
    '.hidden': '',
    'wide.txt': `alpha${'x'.repeat(600)}`,
  });
  const grep = async (args: object) =>
    branchOf((await runExecutor(piGrepExecutor(machine), PiGrepExecArgsSchema, args as never))[0]);
  const [, found] = await grep({ pattern: 'alpha', glob: '*.ts', context: 1 });
  expect(found).toMatchObject({ output: 'src/one.ts:1: alpha\nsrc/one.ts-2- beta' });
  expect(await grep({ pattern: 'alpha', limit: 1 })).toMatchObject(['success', { matchLimitReached: 1 }]);
  expect(await grep({ pattern: 'ALPHA', path: 'wide.txt', ignoreCase: true })).toMatchObject([
    'success',
    { linesTruncated: true },
  ]);
  expect(await grep({ pattern: 'a(', literal: true })).toMatchObject(['success', { output: 'nothing found' }]);
  expect((await grep({ pattern: '(' }))[0]).toBe('error');
  const find = async (args: object) =>
    branchOf((await runExecutor(piFindExecutor(machine), PiFindExecArgsSchema, args as never))[0]);
  expect(await find({ pattern: '**/*.py' })).toMatchObject(['success', { output: 'src/two.py' }]);
  expect(await find({ pattern: '*', limit: 1 })).toMatchObject(['success', { resultLimitReached: 1 }]);
  expect((await find({ pattern: '*', path: 'none' }))[0]).toBe('error');
  const ls = async (args: object) => branchOf((await runExecutor(piLsExecutor(machine), PiLsExecArgsSchema, args))[0]);
  expect(await ls({})).toMatchObject(['success', { output: '.hidden\nsrc/\nwide.txt' }]);
  expect((await ls({ path: 'wide.txt' }))[0]).toBe('error');
});
