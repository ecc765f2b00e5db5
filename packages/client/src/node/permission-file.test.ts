import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { examineRules, loadRules, projectRulesPath, saveRule, trustProjectRules } from './permission-file.ts';

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
  expect(loadRules(base, user)).toEqual({ user: [], project: [], notices: [] });
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

it.each([
  [{ denny: ['shell'] }, /permissions\.json: denny: unknown key, did you mean deny\?$/],
  [{ Deny: ['shell'] }, /Deny: unknown key, did you mean deny\?/],
  [{ denied: ['shell'] }, /denied: unknown key, did you mean deny\?/],
  [{ folder: {} }, /folder: unknown key, did you mean folders\?/],
  [{ folders: { '/w': { alow: [] } } }, /folders: \/w: alow: unknown key, did you mean allow\?/],
  [{ folders: [] }, /folders has to be an object/],
  [{ folders: { '/w': 'deny' } }, /folders: \/w has to be an object/],
  [{ trusted: 'all' }, /trusted has to be an object/],
])('[bad-permissions-file] refuses what is nearly a key of the file, or no place for rules: %j', (content, message) => {
  write(user, content);
  expect(() => loadRules(base, user)).toThrow(message);
  expect(examineRules(base, user)).toEqual({ problem: expect.stringMatching(message) });
});

it('[bad-permissions-file] refuses the slip of a key in the file of a workspace too', () => {
  write(projectRulesPath(base), { alow: ['shell'] });
  expect(examineRules(base, user)).toEqual({
    problem: expect.stringMatching(/alow: unknown key, did you mean allow\?/),
  });
});

it('[bad-permissions-file] tells a key that is like none, and keeps it', () => {
  write(user, { comment: 'mine', deny: ['fetch'] });
  expect(examineRules(base, user)).toEqual({
    rules: 1,
    notices: [expect.stringMatching(/permissions\.json: comment: unknown key, which is not looked at/)],
  });
  saveRule(base, user, 'allow', 'shell: ls');
  expect(JSON.parse(readFileSync(user, 'utf8'))).toMatchObject({ comment: 'mine' });
});

it('[product-permission-rules] says that allow rules of a workspace are not taken, and how they would be', () => {
  write(projectRulesPath(base), { allow: ['shell'], deny: ['fetch'] });
  const [notice = ''] = loadRules(base, user).notices;
  expect(notice).toMatch(/has an allow rule of the workspace's own, not taken until you trust the file/);
  const [, trusted = ''] = /put ("trusted": \{.*?\}) in/.exec(notice) ?? [];
  write(user, `{${trusted}}`);
  expect(loadRules(base, user).notices).toEqual([]);
  expect(texts(loadRules(base, user).project)).toEqual(['allow shell', 'deny fetch']);
});
