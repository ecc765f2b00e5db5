import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';

/** After SIGTERM a process group is given this long before SIGKILL. */
export const KILL_GRACE = 500;

/** Output that still comes after the shell itself has ended: its pipes are read this long, then left to what runs on. */
const DRAIN = 150;

/** Longest path read from the descriptor on which the shell tells its last folder. */
const FOLDER_CAP = 16 * 1024;

/** How a shell ended. A signal gives 128 and its number, as shells themselves count it. */
export interface ShellEnd {
  code: number;
  /** Its folder at the end; where it began when it did not tell. */
  cwd: string;
}

/** A command under way, whatever it runs in. */
export interface ShellHandle {
  readonly pid: number;
  readonly ended: Promise<ShellEnd>;
  /** Characters for its input; false when that is closed. */
  write(text: string): boolean;
  /** Stops the whole group, at first politely. */
  kill(): void;
  /** Does not keep this process alive for its sake. */
  unref(): void;
  signal(signal: NodeJS.Signals): void;
}

/**
 * One command in a shell, in a process group of its own, so that all it starts can be stopped with it. The command is evaluated from an
 * argument: nothing is quoted, and the line numbers of its error messages are its own. A trap tells the last folder on descriptor 3.
 */
export class ShellProcess implements ShellHandle {
  readonly pid: number;
  readonly ended: Promise<ShellEnd>;
  private readonly child: ChildProcess;
  private over = false;

  /** Rejects nothing: a shell that cannot be started throws here. */
  static async start(options: {
    command: string;
    cwd: string;
    env: NodeJS.ProcessEnv;
    /** False leaves its input open, for characters to come. */
    closeStdin: boolean;
    onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  }): Promise<ShellProcess> {
    const { file, args } = shellCommand(options.command);
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: options.env,
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: [options.closeStdin ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    return new ShellProcess(child, options.cwd, options.onOutput);
  }

  private constructor(
    child: ChildProcess,
    cwd: string,
    onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void,
  ) {
    this.child = child;
    this.pid = child.pid ?? 0;
    trackGroup(this);
    child.stdout?.on('data', (chunk: Buffer) => onOutput('stdout', chunk));
    child.stderr?.on('data', (chunk: Buffer) => onOutput('stderr', chunk));
    // Input that nobody reads any more is no reason to fail.
    child.stdin?.on('error', () => undefined);
    const folder = readFolder(child.stdio[3] as Readable);
    this.ended = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.over = true;
        untrackGroup(this);
        const number = signal === null ? 0 : constants.signals[signal];
        void drained(child).then(() => {
          // What the command left running may print on; it is read and dropped, and keeps nobody waiting.
          for (const pipe of child.stdio) (pipe as { unref?: () => void } | null)?.unref?.();
          resolve({ code: code ?? 128 + number, cwd: folder() || cwd });
        });
      });
    });
  }

  /** Characters for its input; false when that is closed. */
  write(text: string): boolean {
    return this.child.stdin?.writable === true && (this.child.stdin.write(text), true);
  }

  /** Stops the whole group, at first politely. */
  kill(): void {
    this.signal('SIGTERM');
    // Again although the shell itself may be gone: what it started might not have listened.
    setTimeout(() => this.signal('SIGKILL'), KILL_GRACE);
  }

  /** Does not keep this process alive for the shell's sake. */
  unref(): void {
    this.child.unref();
    for (const pipe of this.child.stdio) (pipe as { unref?: () => void } | null)?.unref?.();
  }

  signal(signal: NodeJS.Signals): void {
    try {
      if (process.platform === 'win32') this.child.kill(signal);
      else process.kill(-this.pid, signal);
    } catch {
      // the group is gone
    }
  }

  get isOver(): boolean {
    return this.over;
  }
}

/** The shift hides the command from itself: its own `$1` is empty, as in any shell. */
const EVALUATE = 'tandem_command=$1; shift; trap "pwd >&3" EXIT; eval "$tandem_command"';

function shellCommand(command: string): { file: string; args: string[] } {
  if (process.platform === 'win32')
    return { file: process.env['COMSPEC'] ?? 'cmd.exe', args: ['/d', '/s', '/c', command] };
  return { file: shellPath(), args: ['-c', EVALUATE, 'tandem', command] };
}

/** The shell that commands run in: the user's own where it speaks the common language, else bash, else sh. */
export function shellPath(): string {
  const own = process.env['SHELL'];
  if (own !== undefined && /\/(bash|zsh|dash|ksh|sh)$/.test(own) && existsSync(own)) return own;
  return ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find(path => existsSync(path)) ?? '/bin/sh';
}

function readFolder(pipe: Readable): () => string {
  let text = '';
  pipe.setEncoding('utf8');
  pipe.on('data', (chunk: string) => {
    if (text.length < FOLDER_CAP) text += chunk;
  });
  pipe.on('error', () => undefined); // it tells the folder or it does not
  return () => /^(\/.*)\n/.exec(text)?.[1] ?? '';
}

/** Resolves when both outputs have ended, or a moment after the exit when something else still holds them. */
function drained(child: ChildProcess): Promise<void> {
  const streams = [child.stdout, child.stderr].filter(stream => stream !== null && !stream.readableEnded) as Readable[];
  return new Promise(resolve => {
    let left = streams.length;
    const timer = setTimeout(resolve, DRAIN);
    const finish = () => {
      if (--left > 0) return;
      clearTimeout(timer);
      resolve();
    };
    if (left === 0) finish();
    for (const stream of streams) stream.once('end', finish);
  });
}

// A process that ends without having cancelled its runs still takes its shells with it.
const groups = new Set<ShellHandle>();
let watching = false;

/** A shell that ends with this process. */
export function trackGroup(shell: ShellHandle): void {
  groups.add(shell);
  if (watching) return;
  watching = true;
  process.once('exit', () => {
    for (const one of groups) one.signal('SIGKILL');
  });
}

/** A shell that ended, or that went to the background and may outlive this process. */
export function untrackGroup(shell: ShellHandle): void {
  groups.delete(shell);
}
