import { realpathSync } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, relative, resolve, sep, isAbsolute } from 'node:path';

/** Links followed before a path counts as a loop; the limit of Linux. */
const LINKS_FOLLOWED = 40;

/** The folder a run works in. Its root is a real path, so that two names of one folder compare equal. */
export class Workspace {
  readonly root: string;

  /** `folder` has to exist. */
  constructor(folder: string) {
    this.root = realpathSync(resolve(folder));
  }

  /** The absolute form of a path that the server gave: relative ones start at the root, an empty one is the root. */
  resolve(path: string): string {
    return resolve(this.root, path);
  }

  /** Whether a real path is the root or below it. */
  contains(real: string): boolean {
    const way = relative(this.root, real);
    return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`));
  }

  /**
   * Where a path really leads, links followed, also when its end does not exist yet: then the nearest parent that exists decides. A link
   * that points to nothing leads to where a write through it would go.
   */
  async real(path: string): Promise<string> {
    return await followPath(this.resolve(path), 0);
  }
}

async function followPath(path: string, depth: number): Promise<string> {
  if (depth > LINKS_FOLLOWED) throw new Error(`${path} is a loop of links`);
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const link = await readlink(path).catch(() => undefined); // no link, or nothing there at all
  if (link !== undefined) return await followPath(resolve(parent, link), depth + 1);
  return resolve(await followPath(parent, depth), basename(path));
}

/** Where a path leads when its last part is meant itself, as a delete means a link and not its target. */
export async function realEntry(workspace: Workspace, path: string): Promise<string> {
  const absolute = workspace.resolve(path);
  if (absolute === dirname(absolute)) return absolute;
  return resolve(await workspace.real(dirname(absolute)), basename(absolute));
}

/** Whether an error says that there is nothing at a path. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** The system's code of an error, such as `EACCES`; empty when it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** An error's message without the stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What is at a path, by name; undefined when nothing is. */
export async function entryKind(path: string): Promise<'file' | 'directory' | 'link' | 'device' | undefined> {
  try {
    const entry = await lstat(path);
    if (entry.isFile()) return 'file';
    if (entry.isDirectory()) return 'directory';
    return entry.isSymbolicLink() ? 'link' : 'device';
  } catch (error) {
    if (isMissing(error) || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
