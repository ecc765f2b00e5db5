import type { IPty } from '@lydell/node-pty';
import type { ShellEnd, ShellHandle } from './shell-process.ts';
import { KILL_GRACE, shellPath, trackGroup, untrackGroup } from './shell-process.ts';
import { messageOf } from './workspace.ts';

/** The size that programs are told; output is kept as text, so it only has to be wide enough. */
const COLUMNS = 200;
const ROWS = 50;

/**
 * One command in a terminal of its own, for programs that behave otherwise without one. Both outputs are one, as on any terminal. The folder
 * that it ends in is not known.
 */
export class PtyProcess implements ShellHandle {
  readonly pid: number;
  readonly ended: Promise<ShellEnd>;
  private readonly pty: IPty;
  private over = false;

  /** Rejects when this machine has no terminals to give. */
  static async start(options: {
    command: string;
    cwd: string;
    env: NodeJS.ProcessEnv;
    onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  }): Promise<PtyProcess> {
    const { spawn } = await import('@lydell/node-pty').catch((error: unknown) => {
      throw new Error(`this machine has no terminal to give: ${messageOf(error)}`, { cause: error });
    });
    const pty = spawn(shellPath(), ['-c', options.command], {
      name: 'xterm-256color',
      cols: COLUMNS,
      rows: ROWS,
      cwd: options.cwd,
      env: options.env,
      encoding: null,
    });
    return new PtyProcess(pty, options.cwd, options.onOutput);
  }

  private constructor(pty: IPty, cwd: string, onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void) {
    this.pty = pty;
    this.pid = pty.pid;
    trackGroup(this);
    // Without an encoding the pieces are bytes, whatever the types say.
    pty.onData(data => onOutput('stdout', Buffer.from(data)));
    this.ended = new Promise(resolve => {
      pty.onExit(({ exitCode, signal }) => {
        this.over = true;
        untrackGroup(this);
        resolve({ code: signal === undefined || signal === 0 ? exitCode : 128 + signal, cwd });
      });
    });
  }

  write(text: string): boolean {
    if (this.over) return false;
    this.pty.write(text);
    return true;
  }

  kill(): void {
    this.signal('SIGTERM');
    setTimeout(() => this.signal('SIGKILL'), KILL_GRACE);
  }

  /** The library holds the process open while the terminal is; there is nothing to let go of. */
  unref(): void {}

  signal(signal: NodeJS.Signals): void {
    try {
      if (process.platform === 'win32') this.pty.kill();
      else process.kill(-this.pid, signal);
    } catch {
      // the group is gone
    }
  }
}
