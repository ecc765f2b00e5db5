import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeMachine } from '../../test/machine.ts';
import { Workspace, realEntry } from './workspace.ts';

it('resolves relative paths from its root, and the empty path to it', () => {
  const { machine, root } = makeMachine();
  expect(machine.workspace.resolve('a/../b')).toBe(join(root, 'b'));
  expect(machine.workspace.resolve('')).toBe(root);
  expect(machine.workspace.resolve('/etc/hosts')).toBe('/etc/hosts');
});

it('contains itself and what is below, not its neighbours', () => {
  const { machine, root } = makeMachine();
  for (const inside of [root, `${root}/a`, `${root}/..a`, `${root}/a..b/c`])
    expect(machine.workspace.contains(inside)).toBe(true);
  for (const outside of [`${root}2`, `${root}/..`, '/', `${root}/../x`])
    expect(machine.workspace.contains(outside)).toBe(false);
});

it('knows where a path that does not exist yet would be', async () => {
  const { machine, root, base } = makeMachine({ 'src/a.ts': '' });
  symlinkSync('src', join(root, 'code'));
  symlinkSync(base, join(root, 'out'));
  symlinkSync(join(base, 'not-yet'), join(root, 'dangling'));
  const real = (path: string) => machine.workspace.real(path);
  expect(await real('new/deep/file')).toBe(join(root, 'new/deep/file'));
  expect(await real('code/new')).toBe(join(root, 'src/new'));
  expect(await real('out/new/deep')).toBe(join(base, 'new/deep'));
  expect(await real('dangling')).toBe(join(base, 'not-yet'));
  expect(await real('dangling/below')).toBe(join(base, 'not-yet/below'));
});

it('refuses a loop of links instead of following it for ever', async () => {
  const { machine, root } = makeMachine();
  symlinkSync('b', join(root, 'a'));
  symlinkSync('a', join(root, 'b'));
  await expect(machine.workspace.real('a')).rejects.toThrow(/loop|ELOOP/);
});

it('means the link itself where an entry is meant', async () => {
  const { machine, root, base } = makeMachine();
  symlinkSync(join(base, 'target'), join(root, 'link'));
  expect(await realEntry(machine.workspace, 'link')).toBe(join(root, 'link'));
});

it('has a real path as its root, whatever name it was given', () => {
  const { base, root } = makeMachine();
  mkdirSync(join(base, 'other'));
  symlinkSync(root, join(base, 'other/name'));
  expect(new Workspace(join(base, 'other/name')).root).toBe(root);
});
