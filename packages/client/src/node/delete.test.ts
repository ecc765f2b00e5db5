import { DeleteArgsSchema } from '@tandem/protocol/agent';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { deleteExecutor } from './delete.ts';
import type { Machine } from './machine.ts';

async function remove(machine: Machine, path: string) {
  const [answer] = await runExecutor(deleteExecutor(machine), DeleteArgsSchema, { path });
  return branchOf(answer);
}

it('[§10.2-delete] deletes a file and tells what was in it', async () => {
  const { machine, file } = makeMachine({ 'a.txt': 'was\r\nhere' });
  expect(await remove(machine, 'a.txt')).toMatchObject([
    'success',
    { path: file('a.txt'), deletedFile: file('a.txt'), fileSize: 9n, prevContent: 'was\nhere' },
  ]);
  expect(existsSync(file('a.txt'))).toBe(false);
});

it('deletes a link and leaves what it points to, also when that is outside', async () => {
  const { machine, root, base } = makeMachine();
  writeFileSync(join(base, 'target'), 'mine');
  symlinkSync(join(base, 'target'), join(root, 'link'));
  expect((await remove(machine, 'link'))[0]).toBe('success');
  expect([existsSync(join(root, 'link')), existsSync(join(base, 'target'))]).toEqual([false, true]);
});

it('[§10.2-delete, product-permission-outside] refuses a directory, tells a missing file, and stays inside the workspace', async () => {
  const { machine, root, base, file } = makeMachine({ 'src/a': '' });
  writeFileSync(join(base, 'victim'), 'mine');
  symlinkSync(base, join(root, 'out'));
  expect(await remove(machine, 'src')).toMatchObject(['notFile', { actualType: 'directory' }]);
  expect((await remove(machine, 'none'))[0]).toBe('fileNotFound');
  expect((await remove(machine, 'src/a/b'))[0]).toBe('fileNotFound');
  expect((await remove(machine, '../victim'))[0]).toBe('rejected');
  expect((await remove(machine, 'out/victim'))[0]).toBe('rejected');
  expect([existsSync(join(base, 'victim')), existsSync(file('src/a'))]).toEqual([true, true]);
});

it('read-only refuses with its own branch', async () => {
  const { machine, file } = makeMachine({ a: '' }, { mode: 'read-only' });
  expect(await remove(machine, 'a')).toMatchObject(['permissionDenied', { isReadonly: true }]);
  expect(existsSync(file('a'))).toBe(true);
});
