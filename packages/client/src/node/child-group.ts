import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();
let watching = false;

/** Ends a child with its process group when this process ends, until the returned function is called. */
export function trackChild(child: ChildProcess): () => void {
  children.add(child);
  if (!watching) {
    watching = true;
    process.once('exit', () => {
      for (const one of children) endGroup(one);
    });
  }
  return () => children.delete(child);
}

/** Ends a child and everything in its process group, at once. */
export function endGroup(child: ChildProcess): void {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // the group is gone
  }
}
