import { posix, win32 } from 'node:path';
import type { ToolFacts } from './tool.ts';

const isWindowsPath = (path: string) => /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('\\\\');

/** Whether a path names a place without a folder to start from, on either kind of system. */
function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~') || isWindowsPath(path);
}

/**
 * A path as it goes to the client: absolute when the workspace is known, since a client's own starting folder may have moved.
 * An empty path stays empty.
 */
export function workspacePath(path: string, facts: ToolFacts): string {
  const root = facts.workspacePaths[0];
  if (path === '' || path.startsWith('~')) return path;
  if (isAbsolutePath(path)) return path;
  if (root === undefined) return path;
  return isWindowsPath(root) ? win32.join(root, path) : posix.join(root, path);
}
