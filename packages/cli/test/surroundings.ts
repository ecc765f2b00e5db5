import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterEach, vi } from 'vitest';
import type { Input, Output, Surroundings } from '../src/surroundings.ts';

/** A stream that keeps what was written. */
export class Written extends Writable {
  text = '';
  readonly isTTY: boolean;
  private readonly watchers = new Set<() => void>();

  constructor(isTTY = false) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }

  override _write(piece: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += piece.toString();
    for (const watch of this.watchers) watch();
    done();
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }

  /** Resolves once the text matches. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.text);
      if (found) return found;
      await new Promise<void>(resolve => {
        const watch = () => {
          this.watchers.delete(watch);
          resolve();
        };
        this.watchers.add(watch);
      });
    }
  }
}

export interface TestSurroundings extends Surroundings {
  readonly stdin: Input & PassThrough;
  readonly stdout: Output & Written;
  readonly stderr: Output & Written;
  /** What the two signals of a user do. */
  interrupt(): void;
  interruptAgain(): void;
}

const folders: string[] = [];

/** A folder of the test, gone after it. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tandem-cli-')));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * A process that is none: an empty home, a folder to work in, and streams that are read by the test. Nothing of the machine's own config,
 * keys or local models is seen.
 */
export function makeSurroundings(
  options: { cwd?: string; stdin?: string; isTerminal?: boolean; env?: Record<string, string> } = {},
): TestSurroundings {
  const home = makeFolder();
  const own = {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
  const stop = new AbortController();
  const stopNow = new AbortController();
  const stdin = new PassThrough();
  if (options.stdin !== undefined) stdin.end(options.stdin);
  else if (!options.isTerminal) Readable.from([]).pipe(stdin);
  return {
    stdin: Object.assign(stdin, { isTTY: options.isTerminal === true }),
    stdout: new Written(options.isTerminal),
    stderr: new Written(options.isTerminal),
    env: { ...own, ...options.env },
    cwd: options.cwd ?? makeFolder(),
    stop: stop.signal,
    stopNow: stopNow.signal,
    interrupt: () => stop.abort(),
    interruptAgain: () => stopNow.abort(),
  };
}
