import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { writeOwnFile } from './own-file.ts';
import { PermissionsFileError, checkKeys } from './permission-keys.ts';
import { parseRule } from './permission-rule.ts';
import type { PermissionRule, RuleEffect } from './permission-rule.ts';
import { Workspace, isMissing, messageOf } from './workspace.ts';

/** The rules that hold in one workspace, and where they come from. */
export interface LoadedRules {
  /** What the user wrote, for everywhere and for this folder. */
  user: PermissionRule[];
  /** What the workspace brings along; its `allow` rules only when the user trusts this very file. */
  project: PermissionRule[];
  /** What the user should know of the files, each a sentence: keys that nobody knows, `allow` rules that are not trusted. */
  notices: string[];
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
const EFFECTS = ['allow', 'ask', 'deny'] as const;
interface UserFile extends RuleLists {
  folders?: Record<string, RuleLists>;
  trusted?: Record<string, string>;
}

/**
 * Reads both files; `workspace` is a real path. A missing file has no rules; one that cannot be understood throws a PermissionsFileError, since
 * half of a policy would be none.
 */
export function loadRules(workspace: string, userPath: string): LoadedRules {
  const user = readUserFile(userPath);
  const projectPath = projectRulesPath(workspace);
  const project = readText(projectPath);
  const lists = project === undefined ? {} : parseLists(project, projectPath);
  const notices = [...checkUserFile(user, userPath), ...checkKeys(lists, EFFECTS, projectPath)];
  const isTrusted = project !== undefined && user.trusted?.[workspace] === hashOf(project);
  const ofProject = rulesOf(lists, projectPath);
  const untrusted = isTrusted ? 0 : ofProject.filter(rule => rule.effect === 'allow').length;
  if (project !== undefined && untrusted > 0) {
    notices.push(
      `${projectPath} has ${untrusted === 1 ? 'an allow rule' : `${untrusted} allow rules`} of the workspace's own, not taken until you trust the ` +
        `file as it is now. Read it; to trust it, put "trusted": {${JSON.stringify(workspace)}: "${hashOf(project)}"} in ${userPath}.`,
    );
  }
  return {
    user: [...rulesOf(user, userPath), ...rulesOf(user.folders?.[workspace] ?? {}, userPath)],
    // A workspace comes from somewhere: it may forbid, but not grant itself leave.
    project: ofProject.filter(rule => isTrusted || rule.effect !== 'allow'),
    notices,
  };
}

/** Whether the files of rules for this folder can be taken: why not, or what the user should know of them. The folder has to exist. */
export function examineRules(
  folder: string,
  userPath: string = userRulesPath(),
): { problem: string } | { notices: string[]; rules: number } {
  try {
    const { user, project, notices } = loadRules(new Workspace(folder).root, userPath);
    return { notices, rules: user.length + project.length };
  } catch (error) {
    if (!(error instanceof PermissionsFileError)) throw error;
    return { problem: error.message };
  }
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
  writeOwnFile(path, `${JSON.stringify(file, null, 2)}\n`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw new PermissionsFileError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Looks at the user's file beyond its own lists; throws what cannot be taken, and returns what the user should know. */
function checkUserFile(file: UserFile, path: string): string[] {
  const { folders = {}, trusted = {} }: { folders?: unknown; trusted?: unknown } = file;
  if (!isObject(folders)) throw new PermissionsFileError(`${path}: folders has to be an object of folders with lists`);
  if (!isObject(trusted)) throw new PermissionsFileError(`${path}: trusted has to be an object of folders with hashes`);
  return [
    ...checkKeys(file, [...EFFECTS, 'folders', 'trusted'], path),
    ...Object.entries(folders).flatMap(([folder, lists]) => {
      const place = `${path}: folders: ${folder}`;
      if (!isObject(lists)) throw new PermissionsFileError(`${place} has to be an object with allow, ask and deny`);
      return checkKeys(lists, EFFECTS, place);
    }),
  ];
}

function isObject(json: unknown): json is object {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function parseLists(text: string, path: string): RuleLists {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new PermissionsFileError(`${path} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (!isObject(json)) throw new PermissionsFileError(`${path} holds no object with allow, ask and deny`);
  return json;
}

function rulesOf(lists: RuleLists, path: string): PermissionRule[] {
  return EFFECTS.flatMap(effect => {
    const list: unknown = lists[effect] ?? [];
    if (!Array.isArray(list))
      throw new PermissionsFileError(`${path}: ${effect} has to be a list of rules, such as ["shell: npm test"]`);
    return list.map(rule => {
      if (typeof rule !== 'string')
        throw new PermissionsFileError(`${path}: ${effect} holds ${JSON.stringify(rule)}, which is no rule`);
      try {
        return parseRule(effect, rule);
      } catch (error) {
        throw new PermissionsFileError(`${path}: ${messageOf(error)}`, { cause: error });
      }
    });
  });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
