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
])('a deny of git push holds for %j', command => {
  expect(effect([parseRule('deny', 'shell: git push')], 'shell', command)).toBe('deny');
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
