import { create } from '@bufbuild/protobuf';
import { CursorRuleSchema, CursorRuleTypeSchema } from '@tandem/protocol/agent';
import type { CursorRule, CursorRuleType } from '@tandem/protocol/agent';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeText } from './text-form.ts';

/** Longest rule file taken; a longer one is no rule. */
const RULE_CAP = 256 * 1024;

/** Rule files taken from one folder. */
const RULES_CAP = 200;

/** Files at the root of a workspace that hold for everything. */
const ROOT_FILES = ['AGENTS.md', 'CLAUDE.md', '.cursorrules'];

/** The rules of a workspace: the files at its root, and those of `.cursor/rules` with what their head says about when they hold. */
export async function readRules(root: string): Promise<CursorRule[]> {
  const folder = join(root, '.cursor', 'rules');
  const names = await readdir(folder, { recursive: true }).catch(() => [] as string[]); // most workspaces have none
  const paths = [
    ...ROOT_FILES.map(name => join(root, name)),
    ...names
      .filter(name => name.endsWith('.mdc') || name.endsWith('.md'))
      .sort()
      .slice(0, RULES_CAP)
      .map(name => join(folder, name)),
  ];
  const rules = await Promise.all(paths.map(path => readRule(path)));
  return rules.filter(rule => rule !== undefined);
}

async function readRule(path: string): Promise<CursorRule | undefined> {
  const bytes = await readFile(path).catch(() => undefined); // absent, or not for us to read
  if (bytes === undefined || bytes.length > RULE_CAP) return undefined;
  const text = decodeText(bytes)?.text;
  if (text === undefined) return undefined;
  const { head, body } = splitHead(text);
  if (body.trim() === '') return undefined;
  const isGlobal = !path.endsWith('.mdc') && head === '';
  return create(CursorRuleSchema, {
    fullPath: path,
    content: body,
    frontmatter: head,
    type: isGlobal ? typeOf({ alwaysApply: 'true' }) : typeOf(parseHead(head)),
  });
}

/** The lines between two `---` at the top, and what follows them. Searched by lines: a broken head must not cost time. */
export function splitHead(text: string): { head: string; body: string } {
  if (!text.startsWith('---\n')) return { head: '', body: text };
  const end = text.indexOf('\n---', 3);
  if (end < 0) return { head: '', body: text };
  const lineEnd = text.indexOf('\n', end + 1);
  return { head: text.slice(4, end), body: lineEnd < 0 ? '' : text.slice(lineEnd + 1) };
}

/** The simple `key: value` lines of a head; a list below a key is joined with commas. */
export function parseHead(head: string): Record<string, string> {
  const values: Record<string, string> = {};
  let key = '';
  for (const line of head.split('\n')) {
    const colon = line.indexOf(':');
    if (line.trimStart().startsWith('- ') && key !== '') {
      const item = unquote(line.trimStart().slice(2));
      values[key] = values[key] === '' ? item : `${values[key]},${item}`;
    } else if (colon > 0 && !line.startsWith(' ')) {
      key = line.slice(0, colon).trim();
      values[key] = unquote(line.slice(colon + 1));
    }
  }
  return values;
}

function unquote(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2');
}

function typeOf(head: Record<string, string>): CursorRuleType {
  const globs = (head['globs'] ?? '')
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map(unquote)
    .filter(glob => glob !== '');
  if (head['alwaysApply'] === 'true') return create(CursorRuleTypeSchema, { type: { case: 'global', value: {} } });
  if (globs.length > 0) return create(CursorRuleTypeSchema, { type: { case: 'fileGlobbed', value: { globs } } });
  const description = head['description'] ?? '';
  if (description !== '')
    return create(CursorRuleTypeSchema, { type: { case: 'agentFetched', value: { description } } });
  return create(CursorRuleTypeSchema, { type: { case: 'manuallyAttached', value: {} } });
}
