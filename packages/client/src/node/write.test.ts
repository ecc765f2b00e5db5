import type { MessageInitShape } from '@bufbuild/protobuf';
import { WriteArgsSchema } from '@tandem/protocol/agent';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import type { Machine } from './machine.ts';
import { writeExecutor } from './write.ts';

async function write(machine: Machine, args: MessageInitShape<typeof WriteArgsSchema>) {
  const [answer] = await runExecutor(writeExecutor(machine), WriteArgsSchema, args);
  return branchOf(answer);
}
const text = (path: string) => readFileSync(path, 'utf8');

it('[§10.2-write] writes a new file, its folders too, and tells its size in bytes', async () => {
  const { machine, file } = makeMachine();
  expect(
    await write(machine, { path: 'new/deep/a.txt', fileText: 'one\ntwo 漢\n', returnFileContentAfterWrite: true }),
  ).toMatchObject([
    'success',
    { path: file('new/deep/a.txt'), linesCreated: 2, fileSize: 12, fileContentAfterWrite: 'one\ntwo 漢\n' },
  ]);
  expect(text(file('new/deep/a.txt'))).toBe('one\ntwo 漢\n');
  expect(readdirSync(file('new/deep'))).toEqual(['a.txt']);
});

it('replaces the whole file, and gives its content back only when asked', async () => {
  const { machine, file } = makeMachine({ a: 'a long text that was here' });
  const [branch, value] = await write(machine, { path: 'a', fileText: 'b' });
  expect([branch, value['fileContentAfterWrite']]).toEqual(['success', undefined]);
  expect(text(file('a'))).toBe('b');
  await write(machine, { path: 'a', fileText: '' });
  expect(text(file('a'))).toBe('');
});

it('[R31-file-keeps-line-ends] keeps line ends, byte order mark and mode of the file', async () => {
  const { machine, file } = makeMachine({ 'dos.txt': '\ufeffone\r\ntwo\r\n' });
  chmodSync(file('dos.txt'), 0o754);
  expect(
    await write(machine, { path: 'dos.txt', fileText: 'ONE\ntwo\n', returnFileContentAfterWrite: true }),
  ).toMatchObject(['success', { fileSize: 13, fileContentAfterWrite: 'ONE\ntwo\n' }]);
  expect(text(file('dos.txt'))).toBe('\ufeffONE\r\ntwo\r\n');
  expect(statSync(file('dos.txt')).mode & 0o777).toBe(0o754);
});

it('writes bytes as they are', async () => {
  const { machine, file } = makeMachine({ 'a.bin': 'a\r\n' });
  const fileBytes = Uint8Array.of(0, 0x0a, 0xff, 0x0d);
  await write(machine, { path: 'a.bin', fileBytes });
  expect([...readFileSync(file('a.bin'))]).toEqual([...fileBytes]);
});

it('writes through a link inside the workspace, and leaves it a link', async () => {
  const { machine, root, file } = makeMachine({ 'src/a': 'old' });
  symlinkSync('src/a', join(root, 'link'));
  expect((await write(machine, { path: 'link', fileText: 'new' }))[0]).toBe('success');
  expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
  expect(text(file('src/a'))).toBe('new');
});

it('keeps the other names of a file', async () => {
  const { machine, file } = makeMachine({ a: 'old' });
  linkSync(file('a'), file('b'));
  await write(machine, { path: 'a', fileText: 'new' });
  expect(text(file('b'))).toBe('new');
});

it('[product-permission-outside] refuses what leads out of the workspace: dots, an absolute path, links, a link to nothing yet', async () => {
  const { machine, root, base } = makeMachine({ 'src/a': '' });
  const victim = join(base, 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(root, 'to-victim'));
  symlinkSync(base, join(root, 'to-base'));
  symlinkSync(join(base, 'not-yet'), join(root, 'to-nothing'));
  for (const path of [
    '../victim',
    'src/../../victim',
    victim,
    'to-victim',
    'to-base/victim',
    'to-base/new/x',
    'to-nothing',
  ]) {
    const [branch, value] = await write(machine, { path, fileText: 'stolen' });
    expect([path, branch]).toEqual([path, 'rejected']);
    expect(value['reason']).toMatch(/outside of the workspace/);
  }
  expect(text(victim)).toBe('mine');
  expect(readdirSync(base).sort()).toEqual(['victim', 'workspace']);
});

it('[product-permission-read-only] read-only refuses with its own branch, and makes no folder', async () => {
  const { machine, file } = makeMachine({ a: 'old' }, { mode: 'read-only' });
  expect(await write(machine, { path: 'a', fileText: 'x' })).toMatchObject([
    'permissionDenied',
    { isReadonly: true, operation: 'write' },
  ]);
  await write(machine, { path: 'fresh/dir/x', fileText: 'x' });
  expect([text(file('a')), existsSync(file('fresh'))]).toEqual(['old', false]);
});

it('refuses a directory, a path below a file, and a write-protected file, and changes nothing', async () => {
  const { machine, file } = makeMachine({ 'src/a': 'x', readme: 'old' });
  expect((await write(machine, { path: 'src', fileText: 'x' }))[0]).toBe('error');
  expect((await write(machine, { path: 'readme/inner', fileText: 'x' }))[0]).toBe('error');
  chmodSync(file('readme'), 0o444);
  expect((await write(machine, { path: 'readme', fileText: 'x' }))[0]).toBe('permissionDenied');
  expect([text(file('readme')), text(file('src/a'))]).toEqual(['old', 'x']);
});

it('does not write when the exec was aborted while a human was asked', async () => {
  const controller = new AbortController();
  const { machine, file } = makeMachine(
    {},
    { mode: 'ask', ask: () => (controller.abort(new Error('gone')), Promise.resolve(true)) },
  );
  const [answer] = await runExecutor(
    writeExecutor(machine),
    WriteArgsSchema,
    { path: 'a', fileText: 'x' },
    controller.signal,
  );
  expect(branchOf(answer)[0]).toBe('error');
  expect(existsSync(file('a'))).toBe(false);
});
