import { expect, it } from 'vitest';
import { Permission } from './permission.ts';
import type { PermissionQuestion } from './permission-question.ts';
import type { PermissionMode } from './permission.ts';

const { signal } = new AbortController();
function make(mode: PermissionMode, answer?: boolean) {
  const asked: PermissionQuestion[] = [];
  const ask = (question: PermissionQuestion) => (asked.push(question), Promise.resolve(answer === true));
  return { permission: new Permission({ mode, ask: answer === undefined ? undefined : ask }), asked };
}
const write = (inside: boolean) => ({ kind: 'write' as const, path: '/ws/a', inside, signal });
const run = (command: string, inside = true) => ({ command, workingDirectory: '/ws', inside, denied: [], signal });

it('[product-permission-read-only] read-only refuses every change, asks nobody, and runs only what is harmless', async () => {
  const { permission, asked } = make('read-only', true);
  expect(await permission.change(write(true))).toMatchObject({ allowed: false, readOnly: true });
  expect(await permission.run(run('touch a'))).toMatchObject({ allowed: false, readOnly: true });
  expect(await permission.run(run('git status'))).toEqual({ allowed: true });
  expect(asked).toEqual([]);
});

it('[product-permission-outside] auto allows what stays inside, and refuses the rest when nobody can be asked', async () => {
  const { permission } = make('auto');
  expect(await permission.change(write(true))).toEqual({ allowed: true });
  expect(await permission.run(run('touch a'))).toEqual({ allowed: true });
  expect(await permission.change(write(false))).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('outside of the workspace'),
  });
  expect(await permission.run(run('touch a', false))).toMatchObject({ allowed: false });
  expect(await permission.run(run('sudo ls'))).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('denylist'),
  });
});

it('auto asks about what it would refuse, and says why', async () => {
  const { permission, asked } = make('auto', true);
  expect(await permission.change(write(false))).toEqual({ allowed: true });
  expect(asked).toEqual([{ kind: 'write', path: '/ws/a', reason: '/ws/a is outside of the workspace' }]);
});

it('ask asks each time, shows what will run, and takes no for an answer', async () => {
  const { permission, asked } = make('ask', false);
  expect(await permission.run(run('npm test'))).toEqual({
    allowed: false,
    reason: 'the user said no',
    readOnly: false,
  });
  expect(asked).toEqual([{ kind: 'shell', command: 'npm test', workingDirectory: '/ws' }]);
  expect(await permission.run(run('ls'))).toEqual({ allowed: true });
});

it('ask refuses when nobody is there', async () => {
  expect(await make('ask').permission.change(write(true))).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('nobody'),
  });
});

it('a yes that comes after the question was withdrawn allows nothing', async () => {
  const controller = new AbortController();
  const permission = new Permission({
    mode: 'ask',
    ask: () => (controller.abort(new Error('cancelled')), Promise.resolve(true)),
  });
  await expect(permission.change({ ...write(true), signal: controller.signal })).rejects.toThrow('cancelled');
});
