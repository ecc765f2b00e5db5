import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, messageOf } from './workspace.ts';

/** One hook of a workspace: a command for a step. */
export interface Hook {
  command: string;
  /** Matched against the name of the tool, where the step has one; absent for all. */
  matcher?: RegExp;
  /** Milliseconds. */
  timeoutMs: number;
  /** Whether a hook that fails counts as a refusal. */
  failClosed: boolean;
}

/** How long a hook may take that names no time. */
const TIMEOUT = 30_000;

/** Where workspaces keep their hooks: `{ "hooks": { "preToolUse": [{ "command", "matcher?", "timeout?", "failClosed?" }] } }`, times in seconds. */
const FILE = join('.cursor', 'hooks.json');

/** The hooks of a workspace by step. A file that cannot be understood throws: a policy that is half there would be none. */
export async function readHooks(workspace: string): Promise<ReadonlyMap<string, Hook[]>> {
  const path = join(workspace, FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
  try {
    const { hooks } = JSON.parse(text) as { hooks?: Record<string, unknown> };
    return new Map(Object.entries(hooks ?? {}).map(([step, list]) => [step, hooksOf(list)]));
  } catch (error) {
    throw new Error(`${path} cannot be understood: ${messageOf(error)}`, { cause: error });
  }
}

function hooksOf(list: unknown): Hook[] {
  if (!Array.isArray(list)) throw new Error('the hooks of a step have to be a list');
  return list.map((entry: unknown) => {
    const { command, matcher, timeout, failClosed } = (entry ?? {}) as Record<string, unknown>;
    if (typeof command !== 'string' || command === '') throw new Error('a hook needs a command');
    return {
      command,
      ...(typeof matcher === 'string' && matcher !== '' && matcher !== '*' ? { matcher: new RegExp(matcher) } : {}),
      timeoutMs: typeof timeout === 'number' && timeout > 0 ? timeout * 1000 : TIMEOUT,
      failClosed: failClosed === true,
    };
  });
}
