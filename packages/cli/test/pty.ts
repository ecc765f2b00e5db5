import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { makeFolder } from './surroundings.ts';

/** What is used of the terminal library, which is a dependency of the client. */
interface PtyLibrary {
  spawn(
    file: string,
    args: string[],
    options: object,
  ): {
    write(text: string): void;
    kill(signal?: string): void;
    onData(take: (text: string) => void): void;
    onExit(take: (end: { exitCode: number; signal?: number }) => void): void;
  };
}

const bin = fileURLToPath(new URL('../bin/tandem.js', import.meta.url));
const library = createRequire(import.meta.resolve('@tandem/client'))('@lydell/node-pty') as PtyLibrary;

/** Longer silence than this on a loaded machine means that it will not come. */
const WAIT_MS = 20_000;

/** The command on a terminal of its own. */
export interface PtyCommand {
  /** Everything it wrote so far, as it was. */
  readonly raw: string;
  /** The same without control sequences. */
  readonly text: string;
  /** Types. */
  type(text: string): void;
  kill(signal: string): void;
  /** Resolves once what was written after the last such wait matches; rejects when the command ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exited: Promise<number>;
}

/** Starts the real command in a folder, with an empty home unless one is given. */
export function startPty(
  argv: string[],
  options: { cwd: string; home?: string; columns?: number; env?: Record<string, string> },
): PtyCommand {
  const home = options.home ?? makeFolder();
  const child = library.spawn(process.execPath, ['--conditions=tandem-source', bin, ...argv], {
    name: 'xterm-256color',
    cols: options.columns ?? 80,
    rows: 24,
    cwd: options.cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TERM: 'xterm-256color',
      NODE_COMPILE_CACHE: join(home, 'cache'),
      ...options.env,
    },
  });
  let raw = '';
  let seen = 0;
  let isOver = false;
  const watchers = new Set<() => void>();
  const tell = () => watchers.forEach(watch => watch());
  child.onData(text => {
    raw += text;
    tell();
  });
  const exited = new Promise<number>(resolve => {
    child.onExit(({ exitCode, signal }) => {
      isOver = true;
      resolve(signal ? 128 + signal : exitCode);
      tell();
    });
  });
  onTestFinished(() => {
    if (!isOver) child.kill('SIGKILL');
  });
  const plain = () => raw.replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b[78D]/g, '').replaceAll('\r', '');
  return {
    get raw() {
      return raw;
    },
    get text() {
      return plain();
    },
    type: text => child.write(text),
    kill: signal => child.kill(signal),
    exited,
    async until(pattern) {
      for (;;) {
        const text = plain();
        const found = pattern.exec(text.slice(seen));
        if (found) {
          seen += found.index + found[0].length;
          return found;
        }
        if (isOver) throw new Error(`the command ended before ${pattern}:\n${text}`);
        await new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => reject(new Error(`no ${pattern} in:\n${text.slice(seen)}`)), WAIT_MS);
          const watch = () => {
            clearTimeout(late);
            watchers.delete(watch);
            resolve();
          };
          watchers.add(watch);
        });
      }
    },
  };
}
