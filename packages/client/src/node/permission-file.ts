import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { parseRule } from './permission-rule.ts';
import type { PermissionRule, RuleEffect } from './permission-rule.ts';
import { isMissing, messageOf } from './workspace.ts';

/** The rules that hold in one workspace, and where they come from. */
export interface LoadedRules {
  /** What the user wrote, for everywhere and for this folder. */
  user: PermissionRule[];
  /** What the workspace brings along; its `allow` rules only when the user trusts this very file. */
  project: PermissionRule[];
}

/** The file of a workspace, `.tandem/permissions.json`: `{ "allow": [], "ask": [], "deny": [] }`, lists of rules. */
export function projectRulesPath(workspace: string): string {
  return join(workspace, '.tandem', 'permissions.json');
}

/** The file of the user: the same lists, `folders` with more of them for one workspace, and `trusted` with hashes of project files. */
export function userRulesPath(): string {
  const base = process.env['XDG_CONFIG_HOME'];
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), '.config'), 'tandem', 'permissions.json');
}

interface RuleLists {
  allow?: string[];
  ask?: string[];
  deny?: string[];
}
interface UserFile extends RuleLists {
  folders?: Record<string, RuleLists>;
  trusted?: Record<string, string>;
}

/** Reads both files. A missing file has no rules; one that cannot be understood throws, since half of a policy would be none. */
export function loadRules(workspace: string, userPath: string): LoadedRules {
  const user = readUserFile(userPath);
  const project = readText(projectRulesPath(workspace));
  const lists = project === undefined ? {} : parseLists(project, projectRulesPath(workspace));
  const isTrusted = project !== undefined && user.trusted?.[workspace] === hashOf(project);
  return {
    user: [...rulesOf(user, userPath), ...rulesOf(user.folders?.[workspace] ?? {}, userPath)],
    // A workspace comes from somewhere: it may forbid, but not grant itself leave.
    project: rulesOf(lists, projectRulesPath(workspace)).filter(rule => isTrusted || rule.effect !== 'allow'),
  };
}

/** Keeps a rule of the user for one workspace. Other entries of the file stay as they are. */
export function saveRule(workspace: string, userPath: string, effect: RuleEffect, text: string): void {
  const file = readUserFile(userPath);
  const lists = ((file.folders ??= {})[workspace] ??= {});
  const list = (lists[effect] ??= []);
  if (list.includes(text)) return;
  list.push(text);
  writeUserFile(userPath, file);
}

/** Takes the `allow` rules of a workspace's file as the user's own, until that file changes. */
export function trustProjectRules(workspace: string, userPath: string = userRulesPath()): void {
  const project = readText(projectRulesPath(workspace));
  if (project === undefined) throw new Error(`${projectRulesPath(workspace)} does not exist`);
  const file = readUserFile(userPath);
  (file.trusted ??= {})[workspace] = hashOf(project);
  writeUserFile(userPath, file);
}

function readUserFile(path: string): UserFile {
  const text = readText(path);
  return text === undefined ? {} : (parseLists(text, path) as UserFile);
}

function writeUserFile(path: string, file: UserFile): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function parseLists(text: string, path: string): RuleLists {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`${path} holds no object`);
  return json;
}

function rulesOf(lists: RuleLists, path: string): PermissionRule[] {
  return (['allow', 'ask', 'deny'] as const).flatMap(effect => {
    const list: unknown = lists[effect] ?? [];
    if (!Array.isArray(list)) throw new Error(`${path}: ${effect} has to be a list of rules`);
    return list.map(rule => {
      if (typeof rule !== 'string')
        throw new Error(`${path}: ${effect} holds ${JSON.stringify(rule)}, which is no rule`);
      try {
        return parseRule(effect, rule);
      } catch (error) {
        throw new Error(`${path}: ${messageOf(error)}`, { cause: error });
      }
    });
  });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
