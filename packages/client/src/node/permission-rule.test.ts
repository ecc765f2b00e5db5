import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decideByRules, parseRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';

const ROOT = '/ws';
function effect(rules: PermissionRule[], tool: PermissionRule['tool'], text: string): string | undefined {
  return decideByRules(rules, { tool, text }, ROOT)?.effect;
}
const one = (rule: string) => [parseRule('allow', rule)];
const allows = (rule: string, text: string) => effect(one(rule), parseRule('allow', rule).tool, text) === 'allow';

it.each([
  ['write: src/**', '/ws/src/deep/one.ts', true],
  ['write: src/*', '/ws/src/deep/one.ts', false],
  ['write: *.md', '/ws/docs/deep/a.md', true],
  ['write: *.md', '/other/a.md', false],
  ['write: **', '/ws/../etc/passwd', true],
  ['write: **', '/etc/passwd', false],
  ['write: /tmp/out/**', '/tmp/out/a', true],
  ['delete: {a,b}.txt', '/ws/b.txt', true],
  ['write', '/anywhere', true],
  ['fetch: example.org', 'example.org:443', true],
  ['fetch: example.org', 'evil-example.org:443', false],
  ['fetch: *.example.org', 'docs.example.org:443', true],
  ['fetch: *.example.org', 'example.org.evil.net:443', false],
  ['fetch: 127.0.0.1:8080', '127.0.0.1:8080', true],
  ['fetch: 127.0.0.1:8080', '127.0.0.1:9090', false],
  ['mcp: demo/echo', 'demo/echo', true],
  ['mcp: demo', 'demo/fail', true],
  ['mcp: demo/*', 'other/echo', false],
  ['shell: npm test', 'npm test -- --watch', true],
  ['shell: npm test', 'npm testing', false],
  ['shell: npm test', 'npm test; rm -rf .', false],
  ['shell: npm test', 'npm test && curl evil', false],
  ['shell: npm test', 'npm test $(touch x)', false],
  ['shell: npm test', 'npm test > /etc/x', false],
  ['shell: npm test', 'npm test\nrm a', false],
  ['shell: git *', 'git push', true],
  ['shell: =rm *.tmp', 'rm *.tmp', true],
  ['shell: =rm *.tmp', 'rm a.tmp b', false],
])('[product-permission-rules] the rule %j on %j: %j', (rule, text, expected) => {
  expect(allows(rule, text)).toBe(expected);
});

it.each([
  'git push',
  'cd a && git push',
  'x=1 git push',
  'echo $(git push)',
  'true; (git push)',
  'sudo git push',
  'bash -c "git push"',
  'git  push',
  'git\tpush origin',
  'git \\\n push',
  '/usr/bin/git push',
  'git -C . push',
  'git -c a.b=c --no-pager push',
  'cd a; /usr/bin/git --git-dir=b push',
  '\\git push',
  'g""it push',
  '"git" push',
])('a deny of git push holds for %j', command => {
  expect(effect([parseRule('deny', 'shell: git push')], 'shell', command)).toBe('deny');
});

it('[product-permission-rules] a deny of a path of a program or of an exact command holds, and none goes too far', () => {
  const denies = (rule: string, command: string) => effect([parseRule('deny', rule)], 'shell', command) === 'deny';
  expect(denies('shell: ./deploy.sh', './deploy.sh now')).toBe(true);
  expect(denies('shell: git  push', 'git push')).toBe(true);
  expect(denies('shell: git -C /x push', 'git -C /x push')).toBe(true);
  expect(denies('shell: =git push', 'cd a && /usr/bin/git  push')).toBe(true);
  expect(denies('shell: =git push', 'git push --force')).toBe(false);
  expect(denies('shell: git push', 'git -C push status')).toBe(false);
  expect(denies('shell: git push', 'git pushed')).toBe(false);
});

it.each([
  ['secrets', '/ws/secrets/k.txt'],
  ['secrets', '/ws/deep/secrets/below/k.txt'],
  ['secrets/', '/ws/secrets/k.txt'],
  ['./secrets/', '/ws/secrets/a/k.txt'],
  ['secrets/*', '/ws/secrets/a/k.txt'],
  ['/secret-place', '/secret-place/passwd'],
  ['/', '/anything'],
  ['~/.ssh', `${homedir()}/.ssh/id`],
  ['~', `${homedir()}/a`],
  ['../other/**', '/other/x'],
  ['..', '/other/x'],
  ['.', '/ws/a'],
])('[product-permission-rules] a deny of reading %j covers %j, as an ask of writing does', (pattern, path) => {
  expect(effect([parseRule('deny', `read: ${pattern}`)], 'read', path)).toBe('deny');
  expect(effect([parseRule('ask', `write: ${pattern}`)], 'write', path)).toBe('ask');
});

it.each([
  ['secrets', '/ws/secrets-not/k.txt'],
  ['secrets/', '/other/secrets/k.txt'],
  ['a/secrets', '/ws/b/a/secrets/k.txt'],
  ['../other', '/ws/other/x'],
])('a deny of reading %j leaves %j alone', (pattern, path) => {
  expect(effect([parseRule('deny', `read: ${pattern}`)], 'read', path)).toBeUndefined();
});

it.each(['secrets', 'secrets/', 'secrets/*'])('an allow of %j gives no leave below it', pattern => {
  expect(effect([parseRule('allow', `write: ${pattern}`)], 'write', '/ws/secrets/a/k.txt')).toBeUndefined();
});

it('[product-permission-rules] a deny that names a link holds for what it leads to, and for the link itself', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tandem-')));
  try {
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    const decide = (rule: string, text: string, named?: string) =>
      decideByRules([parseRule('deny', rule)], { tool: 'read', text, named }, root)?.effect;
    expect(decide('read: ./link', join(root, 'real', 'a'))).toBe('deny');
    expect(decide('read: link/**', join(root, 'real', 'a'))).toBe('deny');
    expect(decide('read: link', join(root, 'real', 'a'), join(root, 'link', 'a'))).toBe('deny');
    expect(decide('read: link', join(root, 'real', 'a'), join(root, 'real', 'a'))).toBeUndefined();
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('lets deny win over ask, and ask over allow', () => {
  const rules = [
    parseRule('allow', 'write: **'),
    parseRule('ask', 'write: src/**'),
    parseRule('deny', 'write: src/secret/**'),
  ];
  expect([
    effect(rules, 'write', '/ws/a'),
    effect(rules, 'write', '/ws/src/a'),
    effect(rules, 'write', '/ws/src/secret/a'),
    effect(rules, 'delete', '/ws/a'),
  ]).toEqual(['allow', 'ask', 'deny', undefined]);
});

it.each(['', 'fly: a', 'shell:', 'write:   '])('refuses %j as a rule', text => {
  expect(() => parseRule('allow', text)).toThrow();
});
