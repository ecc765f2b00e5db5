import { spawn } from 'node:child_process';
import { endGroup, trackChild } from './child-group.ts';

/** How a program ended. */
export interface ProgramEnd {
  /** -1 when a signal ended it. */
  code: number;
  stdout: string;
  stderr: string;
}

/** Last words on standard error that are kept. */
const STDERR_CAP = 4_000;

/**
 * Runs a program to its end, in a process group of its own. Rejects when it cannot be started, does not end within `deadlineMs`, or the signal is
 * aborted; the whole group is ended then. Output beyond `maxCharacters` is dropped.
 */
export function runProgram(options: {
  file: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  input?: string;
  signal: AbortSignal;
  deadlineMs: number;
  maxCharacters: number;
}): Promise<ProgramEnd> {
  const { file, args, cwd, env, input, signal, deadlineMs, maxCharacters } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const child = spawn(file, args, {
      cwd,
      env,
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const untrack = trackChild(child);
    const end: ProgramEnd = { code: -1, stdout: '', stderr: '' };
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      untrack();
      finish();
    };
    const stop = (error: unknown) =>
      settle(() => {
        endGroup(child);
        reject(error);
      });
    const onAbort = () => stop(signal.reason);
    const timer = setTimeout(() => stop(new Error(`it did not end within ${deadlineMs / 1000} s`)), deadlineMs);
    signal.addEventListener('abort', onAbort, { once: true });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (end.stdout.length < maxCharacters) end.stdout += text;
    });
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (end.stderr = (end.stderr + text).slice(-STDERR_CAP)));
    // A program that reads nothing of its input is none that failed.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    child.once('error', error => settle(() => reject(error)));
    child.once('close', code => settle(() => resolve({ ...end, code: code ?? -1 })));
  });
}
