import { symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeMachine } from '../../test/machine.ts';
import { Permission } from './permission.ts';
import type { PermissionAnswer, PermissionQuestion } from './permission-question.ts';
import { parseRule } from './permission-rule.ts';
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
  expect(asked).toEqual([{ kind: 'shell', command: 'npm test', workingDirectory: '/ws', rule: 'shell: =npm test' }]);
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

it('[product-permission-rules] a deny holds in every mode, an ask asks in auto, an allow saves the question', async () => {
  const rules = [
    parseRule('deny', 'write: secret/**'),
    parseRule('ask', 'write: src/**'),
    parseRule('allow', 'write: docs/**'),
  ];
  const asked: PermissionQuestion[] = [];
  const ask = (question: PermissionQuestion) => (asked.push(question), Promise.resolve(true));
  for (const mode of ['ask', 'auto'] as const) {
    const permission = new Permission({ mode, ask, root: '/ws', rules });
    const change = (path: string) => permission.change({ kind: 'write', path, inside: true, signal });
    expect(await change('/ws/secret/a')).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('secret/**'),
    });
    expect(await change('/ws/src/a')).toEqual({ allowed: true });
    expect(await change('/ws/docs/a')).toEqual({ allowed: true });
  }
  expect(asked.map(question => question.path)).toEqual(['/ws/src/a', '/ws/src/a']);
  const readOnly = new Permission({ mode: 'read-only', root: '/ws', rules });
  expect(await readOnly.change({ kind: 'write', path: '/ws/docs/a', inside: true, signal })).toMatchObject({
    readOnly: true,
  });
});

it('[product-permission-read-deny] a harmless command reads no file that a rule hides, nor whole folders in which one may be', async () => {
  const { machine, root, file } = makeMachine(
    { '.env': 'KEY', 'open.txt': '', 'secrets/k': 'KEY', 'src/a': '' },
    { mode: 'read-only', rules: [parseRule('deny', 'read: .env'), parseRule('deny', 'read: secrets')] },
  );
  symlinkSync('.env', file('notes.txt'));
  const verdict = (command: string, folder = root) =>
    machine.permission.run({ ...run(command), workingDirectory: folder });
  for (const command of [
    'cat .env',
    'cat ./src/../.env',
    'cat -n open.txt notes.txt',
    `head ${root}/secrets/k`,
    'grep KEY .env',
    'grep -f.env open.txt',
    'file -bf.env',
    'wc --files0-from=.env',
    'git diff --no-index open.txt .env',
    'git show HEAD:.env',
  ]) {
    expect([command, await verdict(command)]).toEqual([
      command,
      { allowed: false, reason: expect.stringMatching(/the rule "read: (\.env|secrets)" forbids it/), readOnly: false },
    ]);
  }
  expect(await verdict('cat k', file('secrets'))).toMatchObject({ allowed: false });
  for (const command of [
    'grep -r KEY',
    'grep --recursive KEY',
    'diff . src',
    'git diff',
    'git log -p',
    'git status -v',
  ])
    expect([command, await verdict(command)]).toMatchObject([command, { allowed: false, readOnly: true }]);
  for (const command of ['cat open.txt', 'grep KEY open.txt', 'ls -la', 'git status', 'git log --oneline -5', 'pwd'])
    expect([command, await verdict(command)]).toEqual([command, { allowed: true }]);
  const without = makeMachine({ '.env': '' }, { mode: 'read-only' });
  expect(await without.machine.permission.run({ ...run('grep -r KEY .env'), workingDirectory: without.root })).toEqual({
    allowed: true,
  });
});

it('remembers leave for the conversation, keeps leave for good, and asks again after a mere once', async () => {
  const asked: string[] = [];
  const kept: string[] = [];
  const answers: PermissionAnswer[] = ['once', 'conversation', 'always'];
  const ask = (question: PermissionQuestion) => (asked.push(question.kind), Promise.resolve(answers.shift() ?? 'no'));
  const permission = new Permission({ mode: 'ask', ask, root: '/ws', keep: rule => kept.push(rule) });
  const write = () => permission.change({ kind: 'write', path: '/ws/a', inside: true, signal });
  const call = () => permission.callMcp({ server: 'demo', tool: 'echo', args: {}, signal });
  expect([await write(), await write(), await write(), await call(), await call()]).toEqual(
    Array(5).fill({ allowed: true }),
  );
  expect(asked).toEqual(['write', 'write', 'mcp']);
  expect(kept).toEqual(['mcp: demo/echo']);
});

it('asks in auto before a file that holds the permissions is changed, and offers no standing leave for it', async () => {
  const asked: PermissionQuestion[] = [];
  const ask = (question: PermissionQuestion) => (asked.push(question), Promise.resolve('always' as const));
  const guarded = ['/ws/.tandem/permissions.json'];
  const permission = new Permission({
    mode: 'auto',
    ask,
    root: '/ws',
    guarded,
    rules: [parseRule('allow', 'write: **')],
  });
  await permission.change({ kind: 'write', path: guarded[0]!, inside: true, signal });
  expect(asked).toEqual([{ kind: 'write', path: guarded[0], reason: expect.stringContaining('permissions') }]);
});

it('[product-fetch-private] auto fetches no private address unless a rule names it', async () => {
  const page = { url: 'http://127.0.0.1:80/', host: '127.0.0.1:80', isPrivate: true, signal };
  const fetchWith = (...rules: string[]) =>
    new Permission({ mode: 'auto', rules: rules.map(rule => parseRule('allow', rule)) }).fetch(page);
  expect(await fetchWith()).toMatchObject({ allowed: false, reason: expect.stringContaining('private address') });
  expect(await fetchWith('fetch')).toMatchObject({ allowed: false });
  expect(await fetchWith('fetch: 127.0.0.1')).toEqual({ allowed: true });
});

it('[product-admin-denylist] an administrator denies commands on this machine', async () => {
  const permission = new Permission({ mode: 'auto', denied: ['npm publish'], rules: [parseRule('allow', 'shell')] });
  expect(await permission.run(run('npm publish --tag x'))).toMatchObject({
    allowed: false,
    reason: expect.stringContaining("administrator's denylist"),
  });
});
