import {
  DeleteArgsSchema,
  GrepArgsSchema,
  LsArgsSchema,
  PiFindExecArgsSchema,
  PiGrepExecArgsSchema,
  PiLsExecArgsSchema,
  PiReadExecArgsSchema,
  ReadArgsSchema,
  RequestContextArgsSchema,
} from '@tandem/protocol/agent';
import { GetDiffRequestSchema, GetDiffRequest_OutputFormat } from '@tandem/protocol/aiserver';
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { deleteExecutor } from './delete.ts';
import { gitDiffExecutor } from './git-diff.ts';
import { grepExecutor } from './grep.ts';
import { lsExecutor } from './ls.ts';
import type { Machine } from './machine.ts';
import { Permission } from './permission.ts';
import { parseRule } from './permission-rule.ts';
import { piFindExecutor } from './pi/find.ts';
import { piGrepExecutor } from './pi/grep.ts';
import { piLsExecutor } from './pi/ls.ts';
import { piReadExecutor } from './pi/read.ts';
import { readExecutor } from './read.ts';
import { requestContextExecutor } from './request-context.ts';

const PATHS = [
  '',
  '.env',
  'notes.txt',
  './notes.txt',
  'secrets',
  'secrets/k.txt',
  'docs',
  'docs/k.txt',
  'way',
  'way/secrets',
  'way/secrets/below/k.txt',
  'deep',
  'absolute',
  'absolute/k.txt',
  'secrets/../.env',
];

/** Files with a secret, links to them, and files that everybody may see. Rules of this effect are about the secret ones. */
function makeSecrets(effect: 'deny' | 'ask' | 'none' = 'deny') {
  const { machine, root, file } = makeMachine({
    '.env': 'KEY=topsecret\n',
    'secrets/k.txt': 'KEY=topsecret\n',
    'deep/secrets/below/k.txt': 'KEY=topsecret\n',
    'deep/open.txt': 'KEY=open\n',
    'absolute/k.txt': 'KEY=topsecret\n',
  });
  symlinkSync('.env', file('notes.txt'));
  symlinkSync('secrets', file('docs'));
  symlinkSync('deep', file('way'));
  const texts = ['read: .env', 'read: secrets', `read: ${root}/absolute/**`];
  const rules = effect === 'none' ? [] : texts.map(text => parseRule(effect, text));
  return { machine: { ...machine, permission: new Permission({ mode: 'auto', root, rules }) }, root, file };
}

/** All that answers hold, as text. */
function textOf(answers: unknown): string {
  return JSON.stringify(answers, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
}

/** Every way to the content of files that takes a path. */
function contentReaders(machine: Machine): [string, (path: string) => Promise<unknown>][] {
  return [
    ...['content', 'count', 'files_with_matches'].map((outputMode): [string, (path: string) => Promise<unknown>] => [
      `grep ${outputMode}`,
      path => runExecutor(grepExecutor(machine), GrepArgsSchema, { path, pattern: 'KEY', outputMode }),
    ]),
    ['pi grep', path => runExecutor(piGrepExecutor(machine), PiGrepExecArgsSchema, { path, pattern: 'KEY' })],
    ['read', path => runExecutor(readExecutor(machine), ReadArgsSchema, { path })],
    ['pi read', path => runExecutor(piReadExecutor(machine), PiReadExecArgsSchema, { path })],
  ];
}

it.each([['deny' as const], ['ask' as const]])(
  '[product-permission-read-deny] no search gives what a rule of %s hides, whatever path is named',
  async effect => {
    const { machine, root } = makeSecrets(effect);
    for (const [tool, read] of contentReaders(machine)) {
      for (const path of [...PATHS, root, `${root}/.env`]) {
        const text = textOf(await read(path));
        expect([tool, path, text]).toEqual([
          tool,
          path,
          expect.not.stringMatching(/topsecret|"count":1,"file":"[^"]*k\.txt/),
        ]);
        if (path !== '' && path !== root) continue;
        if (!tool.endsWith('read')) expect([tool, text]).toEqual([tool, expect.stringContaining('deep/open.txt')]);
        expect(text).not.toMatch(/k\.txt|\.env/);
      }
    }
  },
);

it('[product-permission-read-deny] says which rule forbids a search of a file that is named', async () => {
  const { machine } = makeSecrets();
  const [answer] = await runExecutor(grepExecutor(machine), GrepArgsSchema, { path: 'notes.txt', pattern: 'KEY' });
  expect(branchOf(answer)).toMatchObject(['error', { error: 'the rule "read: .env" forbids it' }]);
});

it('gives everything where no rule hides anything, and names what a link leads to as it was asked for', async () => {
  const { machine } = makeSecrets('none');
  const search = async (path: string) =>
    textOf(await runExecutor(grepExecutor(machine), GrepArgsSchema, { path, pattern: 'KEY' }));
  expect(await search('notes.txt')).toContain('"file":"./notes.txt"');
  expect(await search('docs')).toContain('"file":"./docs/k.txt"');
  const hidden = makeSecrets();
  const [answer] = await runExecutor(grepExecutor(hidden.machine), GrepArgsSchema, { path: 'way', pattern: 'KEY' });
  expect(textOf(answer)).toContain('"file":"./way/open.txt"');
});

it('[product-permission-read-deny] lists no names that a rule hides', async () => {
  const { machine } = makeSecrets();
  for (const path of ['', 'secrets', 'docs', 'way', 'deep', 'absolute']) {
    const texts = [
      textOf(await runExecutor(lsExecutor(machine), LsArgsSchema, { path })),
      textOf(await runExecutor(piFindExecutor(machine), PiFindExecArgsSchema, { path, pattern: '**' })),
      textOf(await runExecutor(piLsExecutor(machine), PiLsExecArgsSchema, { path })),
    ];
    for (const text of texts) expect([path, text]).toEqual([path, expect.not.stringMatching(/k\.txt|\.env/)]);
    if (path === 'way') for (const text of texts) expect(text).toContain('open.txt');
  }
  const context = textOf(await runExecutor(requestContextExecutor(machine), RequestContextArgsSchema, {}));
  expect(context).toContain('open.txt');
  expect(context).not.toMatch(/k\.txt|"name":"\.env"/);
});

it('[product-permission-read-deny] gives no difference and no last content of a file that a rule hides', async () => {
  const { machine, root, file } = makeSecrets();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root });
  git('init', '--quiet');
  git('add', '.env', 'deep', 'notes.txt');
  git('commit', '--quiet', '-m', 'a');
  writeFileSync(file('.env'), 'KEY=topsecret2\n');
  writeFileSync(file('deep/open.txt'), 'KEY=open2\n');
  symlinkSync('.env', file('untracked'));
  const [answer] = await runExecutor(gitDiffExecutor(machine), GetDiffRequestSchema, {
    cwd: root,
    maxUntrackedFiles: 100,
    outputFormat: GetDiffRequest_OutputFormat.DIFFS_WITH_BEFORE_AND_AFTER,
  });
  expect(textOf(answer)).toContain('open2');
  expect(textOf(answer)).not.toContain('topsecret');
  const deleted = await runExecutor(deleteExecutor(machine), DeleteArgsSchema, { path: '.env' });
  expect(branchOf(deleted[0])).toMatchObject(['success', { prevContent: '' }]);
});
