import { PiEditExecArgsSchema, ReadArgsSchema, WriteArgsSchema } from '@tandem/protocol/agent';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { AnyExecutor } from '../../src/executor.ts';
import { deleteExecutor } from '../../src/node/delete.ts';
import { grepExecutor } from '../../src/node/grep.ts';
import { lsExecutor } from '../../src/node/ls.ts';
import type { Machine } from '../../src/node/machine.ts';
import { piEditExecutor } from '../../src/node/pi/edit.ts';
import { piReadExecutor } from '../../src/node/pi/read.ts';
import { piWriteExecutor } from '../../src/node/pi/write.ts';
import { readExecutor } from '../../src/node/read.ts';
import { shellExecutor } from '../../src/node/shell.ts';
import { writeExecutor } from '../../src/node/write.ts';
import { branchOf, makeMachine, runExecutor } from '../machine.ts';

/** A disk that has no room: what is written through a handle goes half way, and then fails. */
const disk = { full: false };
vi.mock('node:fs/promises', async original => {
  const real = await original<typeof import('node:fs/promises')>();
  const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  return {
    ...real,
    async open(...args: Parameters<typeof real.open>): Promise<FileHandle> {
      const handle = await real.open(...args);
      if (!disk.full || args[1] === undefined || typeof args[1] === 'number') return handle;
      const write = handle.write.bind(handle) as (
        bytes: Uint8Array,
        from: number,
        length: number,
        at: number,
      ) => Promise<unknown>;
      handle.writeFile = async data => {
        await write(data as Uint8Array, 0, 1, 0);
        throw noSpace();
      };
      // In place there is room for what was there, and for no more.
      handle.write = (async (bytes: Uint8Array, from: number, length: number, at: number) => {
        if (at + length > 3) {
          await write(bytes, from, 2, at);
          throw noSpace();
        }
        return await write(bytes, from, length, at);
      }) as unknown as typeof handle.write;
      return handle;
    },
  };
});
afterEach(() => (disk.full = false));

const read = async (machine: Machine, path: string) =>
  branchOf((await runExecutor(readExecutor(machine), ReadArgsSchema, { path }))[0]);
const write = async (machine: Machine, path: string, fileText: string) =>
  branchOf((await runExecutor(writeExecutor(machine), WriteArgsSchema, { path, fileText }))[0]);

it.each<[string, (machine: ReturnType<typeof makeMachine>) => string, string, RegExp]>([
  ['a folder', ({ file }) => (mkdirSync(file('src')), 'src'), 'invalidFile', /is a directory/],
  ['a device without end', () => '/dev/zero', 'invalidFile', /device or pipe/],
  [
    'a pipe without a writer',
    ({ file }) => (execFileSync('sh', ['-c', 'mkfifo "$0"', file('pipe')]), 'pipe'),
    'invalidFile',
    /device or pipe/,
  ],
  [
    'a file of 300 MB',
    ({ file }) => (writeFileSync(file('huge'), ''), truncateSync(file('huge'), 300_000_000), 'huge'),
    'invalidFile',
    /300000000 bytes long, more than/,
  ],
  ['a link to nothing', ({ file }) => (symlinkSync('nowhere', file('dangling')), 'dangling'), 'fileNotFound', /./],
  ['a link to itself', ({ file }) => (symlinkSync('loop', file('loop')), 'loop'), 'error', /ELOOP|loop/],
  ['a name that is too long', () => 'x'.repeat(5_000), 'error', /ENAMETOOLONG/],
  ['a name with a NUL', () => 'a\0b', 'error', /null bytes/],
  [
    'noise',
    ({ file }) => (writeFileSync(file('noise.bin'), Buffer.alloc(100, 0)), 'noise.bin'),
    'invalidFile',
    /Binary/,
  ],
])('[bad-file-to-read] %s is refused, and says why', async (_what, make, branch, words) => {
  const made = makeMachine();
  const [found, value] = await read(made.machine, make(made));
  expect(found).toBe(branch);
  expect(JSON.stringify(value)).toMatch(words);
});

it.skipIf(!existsSync('/proc/self/pagemap'))(
  '[bad-file-to-read] a file of the system without size and end is given up',
  async () => {
    expect(await read(makeMachine().machine, '/proc/self/pagemap')).toMatchObject([
      'invalidFile',
      { reason: expect.stringMatching(/may never end/) },
    ]);
  },
);

it.skipIf(!existsSync('/proc/self/status'))('[bad-file-to-read] a file of the system with an end is read', async () => {
  expect(await read(makeMachine().machine, '/proc/self/status')).toMatchObject([
    'success',
    { output: { value: expect.stringMatching(/^Name:/) } },
  ]);
});

it('[bad-file-to-read] a file that is not for us to read is told as that', async () => {
  const { machine, file } = makeMachine({ secret: 'x' });
  chmodSync(file('secret'), 0);
  // For root every file is one to read.
  const branch = process.getuid?.() === 0 ? 'success' : 'permissionDenied';
  expect((await read(machine, 'secret'))[0]).toBe(branch);
});

it('[bad-file-to-read] a file that vanishes between two reads is not found, and an edit of it makes none', async () => {
  const { machine, file } = makeMachine({ a: 'x' });
  expect((await read(machine, 'a'))[0]).toBe('success');
  unlinkSync(file('a'));
  expect((await read(machine, 'a'))[0]).toBe('fileNotFound');
  const args = { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] };
  expect(branchOf((await runExecutor(piEditExecutor(machine), PiEditExecArgsSchema, args))[0])[0]).toBe('error');
  expect(existsSync(file('a'))).toBe(false);
});

it('[bad-file-not-utf8] a Latin-1 file is text, and an edit leaves its other bytes as they were', async () => {
  const { machine, file } = makeMachine({ 'l1.txt': Buffer.from('caf\xe9\nna\xefve\n', 'latin1') });
  expect(await read(machine, 'l1.txt')).toMatchObject(['success', { output: { value: 'café\nnaïve\n' } }]);
  await write(machine, 'l1.txt', 'thé\nnaïve\n');
  expect(readFileSync(file('l1.txt'), 'latin1')).toBe('th\xe9\nna\xefve\n');
});

it('[bad-file-changed] an edit of a file that changed while a human was asked is refused, and changes nothing', async () => {
  const made = makeMachine(
    { a: 'one two' },
    { mode: 'ask', ask: () => (writeFileSync(made.file('a'), 'one two, and more'), Promise.resolve(true)) },
  );
  const args = { path: 'a', edits: [{ oldText: 'two', newText: '2' }] };
  expect(branchOf((await runExecutor(piEditExecutor(made.machine), PiEditExecArgsSchema, args))[0])).toMatchObject([
    'error',
    { error: expect.stringMatching(/has changed since it was read/) },
  ]);
  expect(readFileSync(made.file('a'), 'utf8')).toBe('one two, and more');
});

it('[bad-disk-full] a full disk is told as that, the former file stands, and nothing lies beside it', async () => {
  const { machine, file, root } = makeMachine({ a: 'old' });
  disk.full = true;
  expect((await write(machine, 'a', 'much longer than before'))[0]).toBe('noSpace');
  expect((await write(machine, 'new', 'x'))[0]).toBe('noSpace');
  expect([readFileSync(file('a'), 'utf8'), readdirSync(root)]).toEqual(['old', ['a']]);
});

it('[bad-disk-full] a file with two names, which is written in place, gets its former content back', async () => {
  const { machine, file } = makeMachine({ a: 'old' });
  linkSync(file('a'), file('b'));
  disk.full = true;
  expect((await write(machine, 'a', 'much longer than before'))[0]).toBe('noSpace');
  expect([readFileSync(file('a'), 'utf8'), readFileSync(file('b'), 'utf8')]).toEqual(['old', 'old']);
});

const WAYS_OUT: [string, (made: ReturnType<typeof makeMachine>) => string][] = [
  ['dots', () => '../victim'],
  ['dots below a folder', () => 'src/../../victim'],
  ['an absolute path', ({ base }) => join(base, 'victim')],
  ['a linked parent folder', ({ root, base }) => (symlinkSync(base, join(root, 'out')), 'out/victim')],
  [
    'a parent folder linked twice',
    ({ root, base }) => (symlinkSync(base, join(root, 'one')), symlinkSync('one', join(root, 'two')), 'two/victim'),
  ],
  [
    'a linked parent of a folder to be made',
    ({ root, base }) => (symlinkSync(base, join(root, 'out')), 'out/new/victim'),
  ],
];
it.each(WAYS_OUT)('[bad-write-outside] %s leads no write and no delete out of the workspace', async (_what, make) => {
  const made = makeMachine({ 'src/a': 'x' });
  writeFileSync(join(made.base, 'victim'), 'mine');
  const path = make(made);
  const { machine } = made;
  for (const executor of [
    writeExecutor(machine),
    piWriteExecutor(machine),
    piEditExecutor(machine),
    deleteExecutor(machine),
  ]) {
    const args = { path, fileText: 'x', content: 'x', edits: [{ oldText: 'mine', newText: 'x' }] };
    const answer = await (executor as AnyExecutor).run(args as never, { signal: new AbortController().signal });
    const [branch] = branchOf(answer as never);
    expect(['rejected', 'error', 'fileNotFound'], executor.kind).toContain(branch);
  }
  expect([readFileSync(join(made.base, 'victim'), 'utf8'), readdirSync(made.base).sort()]).toEqual([
    'mine',
    ['victim', 'workspace'],
  ]);
});

it('[bad-write-outside] a link, also one to nothing, is written to only when it leads inside; a delete takes the link', async () => {
  const { machine, root, base } = makeMachine({ inside: 'old' });
  writeFileSync(join(base, 'victim'), 'mine');
  for (const [name, target] of [
    ['to-victim', join(base, 'victim')],
    ['to-nothing-outside', '../not-yet'],
    ['to-nothing-inside', 'not-yet'],
    ['to-inside', 'inside'],
  ] as const)
    symlinkSync(target, join(root, name));
  const branches = [];
  for (const name of ['to-victim', 'to-nothing-outside', 'to-nothing-inside', 'to-inside'])
    branches.push((await write(machine, name, 'new'))[0]);
  expect(branches).toEqual(['rejected', 'rejected', 'success', 'success']);
  expect(readFileSync(join(root, 'inside'), 'utf8')).toBe('new');
  const removed = await deleteExecutor(machine).run({ path: 'to-victim' } as never, {
    signal: new AbortController().signal,
  });
  expect(branchOf(removed as never)[0]).toBe('success');
  expect([readFileSync(join(base, 'victim'), 'utf8'), existsSync(join(base, 'not-yet'))]).toEqual(['mine', false]);
});

it('[bad-workspace-gone] each tool has an error of its own when the workspace vanishes', async () => {
  const { machine, root } = makeMachine({ a: 'x' });
  rmSync(root, { recursive: true });
  const { signal } = new AbortController();
  const ask = async (executor: unknown, args: object) =>
    branchOf((await (executor as AnyExecutor).run(args as never, { signal })) as never)[0];
  expect(await ask(readExecutor(machine), { path: 'a' })).toBe('fileNotFound');
  expect(await ask(lsExecutor(machine), { path: '', ignore: [] })).toBe('error');
  expect(await ask(grepExecutor(machine), { pattern: 'x' })).toBe('error');
  expect(await ask(deleteExecutor(machine), { path: 'a' })).toBe('fileNotFound');
  expect(await ask(piReadExecutor(machine), { path: 'a' })).toBe('error');
  expect(await ask(shellExecutor(machine), { command: 'pwd', workingDirectory: '' })).toBe('rejected');
});
