import { closeSync, mkdirSync, openSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './workspace.ts';

/** Files of shells that ended longer ago than this are removed. */
const KEPT_FOR = 7 * 24 * 60 * 60 * 1000;

/** Numbers tried until one is free: several processes may share the folder. */
const TRIES = 1_000;

/**
 * The folder where the output of shells is kept: `<shell_id>.txt` for one in the background, `output-<n>.txt` for output too long for
 * the answer. No two shells have one number.
 */
export class TerminalFolder {
  readonly path: string;
  private last: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** A new, empty file open for appending. `shellId` is a number that no other shell of this folder has. */
  open(kind: 'shell' | 'output'): { shellId: number; path: string; descriptor: number } {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    this.last ??= this.lookAround();
    for (let tries = 0; tries < TRIES; tries++) {
      const shellId = ++this.last;
      const path = join(this.path, kind === 'shell' ? `${shellId}.txt` : `output-${shellId}.txt`);
      try {
        return { shellId, path, descriptor: openSync(path, 'ax', 0o600) };
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
    }
    throw new Error(`no free number for a shell in ${this.path}`);
  }

  /** Removes a file made here that turned out not to be needed. */
  discard(file: { path: string; descriptor: number }): void {
    closeSync(file.descriptor);
    unlinkSync(file.path);
  }

  private lookAround(): number {
    let highest = 0;
    for (const name of readdirSync(this.path)) {
      const number = Number(/^(?:output-)?(\d+)\.txt$/.exec(name)?.[1]);
      if (!Number.isSafeInteger(number)) continue;
      highest = Math.max(highest, number);
      try {
        const path = join(this.path, name);
        if (Date.now() - statSync(path).mtimeMs > KEPT_FOR) unlinkSync(path);
      } catch {
        // another process was faster
      }
    }
    return highest;
  }
}
