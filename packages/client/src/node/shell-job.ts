import type { ShellAbortReason } from '@tandem/protocol/agent';
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Machine } from './machine.ts';
import { OutputLog } from './output-log.ts';
import { OutputPieces } from './output-pieces.ts';
import { PtyProcess } from './pty-process.ts';
import { ShellProcess, untrackGroup } from './shell-process.ts';
import type { ShellHandle } from './shell-process.ts';

/** Characters of output given for one command; the head is kept. The whole is in the file that its end names. */
const OUTPUT_CAP = 1_000_000;

/** Bytes kept in memory at most, whatever the server asks for, before a file is used. */
const MEMORY_CAP = 1_000_000;

/** Longest delay that a timer of this platform holds. */
const LONGEST_TIMER = 0x7fffffff;

/** How a command ended. */
export interface JobEnd {
  code: number;
  /** The folder it ended in. */
  cwd: string;
  /** Why we stopped it; undefined when it ended by itself. */
  stopped: ShellAbortReason | undefined;
  elapsedMs: number;
  /** The file with all of its output, when that was too long to give. */
  location: { filePath: string; sizeBytes: bigint; lineCount: bigint } | undefined;
}

/** What is needed to start a command. */
export interface JobOptions {
  command: string;
  /** Absolute; it has to exist. */
  cwd: string;
  closeStdin: boolean;
  /** Bytes of output after which a file is used. */
  threshold?: number | undefined;
  /** Pieces of output in the foreground, at most a million characters. */
  onPiece?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined;
}

/**
 * A command under way: in the foreground its output is given piece by piece, in the background it goes to the terminal file of its
 * `shellId`. It ends by itself, or is stopped with its whole process group.
 */
export class ShellJob {
  readonly command: string;
  readonly cwd: string;
  readonly pid: number;
  readonly ended: Promise<JobEnd>;
  /** Its number once it is in the background. */
  shellId: number | undefined;
  private readonly machine: Machine;
  private readonly shell: ShellHandle;
  private readonly log: OutputLog;
  private readonly pieces: OutputPieces;
  private readonly timers = new Set<NodeJS.Timeout>();
  private terminalPath = '';
  private stopped: ShellAbortReason | undefined;

  /** Starts the command; rejects when there is no shell to start. Whether it may run has been decided before. */
  static async start(machine: Machine, options: JobOptions): Promise<ShellJob> {
    const log = new OutputLog(machine.terminals, Math.min(options.threshold ?? MEMORY_CAP, MEMORY_CAP));
    const pieces = new OutputPieces(OUTPUT_CAP, options.onPiece ?? (() => undefined));
    const { command, cwd, closeStdin } = options;
    const onOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => {
      const isKept = log.write(chunk);
      pieces.write(stream, chunk);
      if (!isKept) freeChunk(chunk);
    };
    // Only what is to be written to behaves otherwise on a terminal in a way that anybody wants.
    const shell: ShellHandle =
      machine.pty === true && !closeStdin
        ? await PtyProcess.start({ command, cwd, env: machine.env, onOutput })
        : await ShellProcess.start({ command, cwd, env: machine.env, closeStdin, onOutput });
    return new ShellJob(machine, options, shell, log, pieces);
  }

  private constructor(machine: Machine, options: JobOptions, shell: ShellHandle, log: OutputLog, pieces: OutputPieces) {
    this.machine = machine;
    this.command = options.command;
    this.cwd = options.cwd;
    this.pid = shell.pid;
    this.shell = shell;
    this.log = log;
    this.pieces = pieces;
    const startedAt = Date.now();
    this.ended = shell.ended.then(end => this.finish(end, Date.now() - startedAt));
  }

  /** Calls `work` after `delay` milliseconds unless the command has ended by then. */
  after(delay: number, work: () => void): void {
    const timer = setTimeout(work, Math.min(delay, LONGEST_TIMER));
    if (this.shellId !== undefined) timer.unref();
    this.timers.add(timer);
  }

  /** Stops the command and all that it started. */
  stop(reason: ShellAbortReason): void {
    this.stopped ??= reason;
    this.shell.kill();
  }

  /** Characters for its input; false when that is closed. */
  write(text: string): boolean {
    return this.shell.write(text);
  }

  /** Bytes in its terminal file so far. */
  get terminalBytes(): number {
    return statSync(this.terminalPath, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Sends it to the background; gives its number. Throws when there is no place for its file: then it stays where it is. */
  toBackground(): number {
    const file = this.machine.terminals.open('shell');
    this.pieces.end();
    this.log.moveTo(file, terminalHeader(this.pid, this.cwd, this.command));
    this.shellId = file.shellId;
    this.terminalPath = file.path;
    this.machine.shells.background.set(file.shellId, this);
    // It may outlive the run, and keeps nobody waiting.
    untrackGroup(this.shell);
    this.shell.unref();
    for (const timer of this.timers) timer.unref();
    return file.shellId;
  }

  private finish(end: { code: number; cwd: string }, elapsedMs: number): JobEnd {
    for (const timer of this.timers) clearTimeout(timer);
    this.pieces.end();
    const location = this.log.location();
    if (this.shellId === undefined) this.log.close();
    else {
      this.log.close(terminalFooter(end.code, elapsedMs));
      this.machine.shells.background.delete(this.shellId);
    }
    return { ...end, stopped: this.stopped, elapsedMs, location };
  }
}

/**
 * Gives the memory of a chunk back at once. The collector would wait for some 64 MB of them, which a command that prints fast fills in a
 * second. A chunk that shares its memory with others is left to the collector.
 */
function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The shells of one machine that questions can name. */
export class Shells {
  /** By tool_call_id: how a command in the foreground is sent to the background on demand. */
  readonly foreground = new Map<string, () => void>();
  /** By shell_id, while they run. */
  readonly background = new Map<number, ShellJob>();
}

/** Why a command may not run: a refusal in the words of `ShellRejected`; undefined when it may. A folder that does not exist refuses too. */
export async function checkLeave(
  machine: Machine,
  args: { command: string; workingDirectory: string; adminCommandDenylist?: readonly string[] },
  signal: AbortSignal,
): Promise<{ command: string; workingDirectory: string; reason: string; isReadonly: boolean } | undefined> {
  const { workspace, permission } = machine;
  const { command } = args;
  const workingDirectory = workspace.resolve(args.workingDirectory);
  const isFolder = await stat(workingDirectory).then(
    stats => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    const reason = `the working directory ${workingDirectory} does not exist`;
    return { command, workingDirectory, reason, isReadonly: false };
  }
  const verdict = await permission.run({
    command,
    workingDirectory,
    inside: workspace.contains(await workspace.real(workingDirectory)),
    denied: args.adminCommandDenylist ?? [],
    signal,
  });
  return verdict.allowed
    ? undefined
    : { command, workingDirectory, reason: verdict.reason, isReadonly: verdict.readOnly };
}

/** What stands before the output in a terminal file. JSON text is also YAML, and keeps a command of many lines on one. */
function terminalHeader(pid: number, cwd: string, command: string): string {
  return `---\npid: ${pid}\ncwd: ${JSON.stringify(cwd)}\ncommand: ${JSON.stringify(command)}\n---\n`;
}

/** What stands after it, once the command has ended. */
function terminalFooter(exitCode: number, elapsedMs: number): string {
  return `\n---\nexit_code: ${exitCode}\nelapsed_ms: ${elapsedMs}\n---\n`;
}
