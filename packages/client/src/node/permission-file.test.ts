import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadRules, projectRulesPath, saveRule, trustProjectRules } from './permission-file.ts';

let base: string;
let user: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'tandem-'));
  user = join(base, 'config', 'permissions.json');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}
const texts = (rules: { effect: string; text: string }[]) => rules.map(rule => `${rule.effect} ${rule.text}`);

it('has no rules where there are no files', () => {
  expect(loadRules(base, user)).toEqual({ user: [], project: [] });
});

it('takes what a workspace forbids, and what it allows only while the user trusts that very file', () => {
  write(projectRulesPath(base), { allow: ['shell: npm test'], ask: ['fetch'], deny: ['shell: git push'] });
  expect(texts(loadRules(base, user).project)).toEqual(['ask fetch', 'deny shell: git push']);
  trustProjectRules(base, user);
  expect(texts(loadRules(base, user).project)).toEqual(['allow shell: npm test', 'ask fetch', 'deny shell: git push']);
  write(projectRulesPath(base), { allow: ['shell'], deny: [] });
  expect(loadRules(base, user).project).toEqual([]);
});

it('keeps a rule for one workspace, beside what is in the file, for the user alone to read', () => {
  write(user, { deny: ['fetch: evil.example'], more: 1 });
  saveRule(base, user, 'allow', 'write: **');
  saveRule(base, user, 'allow', 'write: **');
  expect(JSON.parse(readFileSync(user, 'utf8'))).toEqual({
    deny: ['fetch: evil.example'],
    more: 1,
    folders: { [base]: { allow: ['write: **'] } },
  });
  expect(statSync(user).mode & 0o777).toBe(0o600);
  expect(texts(loadRules(base, user).user)).toEqual(['deny fetch: evil.example', 'allow write: **']);
  expect(texts(loadRules('/elsewhere', user).user)).toEqual(['deny fetch: evil.example']);
});

it.each([
  ['{', /is not JSON/],
  ['[]', /holds no object/],
  [{ deny: 'shell' }, /deny has to be a list/],
  [{ deny: [1] }, /deny holds 1/],
  [{ allow: ['fly: high'] }, /"fly: high" is no rule/],
])('refuses a file that it cannot understand: %j', (content, message) => {
  write(user, content);
  expect(() => loadRules(base, user)).toThrow(message);
});
