import { execFileSync, fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** How long a child may take for one answer before the bench gives up: far above what any of it takes. */
const ANSWER_MS = 180_000;

/** A process of the bench: asked one thing after the other over IPC. */
export interface Worker {
  readonly pid: number;
  /** The next message that it sends. */
  answer<T>(): Promise<T>;
  ask<T>(question: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** Starts a file beside this one as a process of its own, so that it shares neither loop nor heap with what is measured. */
export function startWorker(file: string, args: readonly string[] = [], execArgv: readonly string[] = []): Worker {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ['--conditions=tandem-source', ...execArgv],
    serialization: 'advanced',
  });
  const arrived: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  child.on('message', message => {
    const next = waiting.shift();
    if (next) next(message);
    else arrived.push(message);
  });
  const answer = async <T>(): Promise<T> => {
    if (arrived.length > 0) return arrived.shift() as T;
    return (await within(new Promise<unknown>(resolve => waiting.push(resolve)), child, file)) as T;
  };
  return {
    pid: child.pid!,
    answer,
    ask<T>(question: unknown) {
      const answered = answer<T>();
      child.send(question as object);
      return answered;
    },
    stop: () => stopProcess(child),
  };
}

export async function within<T>(work: Promise<T>, child: ChildProcess, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} said nothing for ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  let onExit = () => {};
  const left = new Promise<never>((_, reject) => {
    onExit = () => reject(new Error(`${what} ended (${child.exitCode ?? child.signalCode}) before it answered`));
    child.once('exit', onExit);
  });
  try {
    return await Promise.race([work, late, left]);
  } finally {
    clearTimeout(timer);
    child.off('exit', onExit);
  }
}

export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

export interface Served {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to the line that says it listens, in milliseconds. */
  readonly startMs: number;
  stop(): Promise<void>;
}

const COMMAND = fileURLToPath(new URL('../packages/cli/bin/tandem.js', import.meta.url));

/** Runs `tandem serve` as a person does, in a process of its own, with a config and a store in a folder of its own. */
export async function serve(config: Record<string, unknown>, execArgv: readonly string[] = []): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
  const file = join(folder, 'tandem.json');
  writeFileSync(file, JSON.stringify({ store: { url: `sqlite:${join(folder, 'tandem.db')}` }, ...config }));
  const startedAt = performance.now();
  const args = ['--conditions=tandem-source', ...execArgv, COMMAND, 'serve', '--port', '0', '--json', '--config', file];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LOG_LEVEL: 'error' },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const [line] = (await within(once(createInterface(child.stdout), 'line'), child, 'tandem serve').catch(
    (error: Error) => {
      throw new Error(`${error.message}: ${said}`);
    },
  )) as [string];
  const startMs = performance.now() - startedAt;
  return {
    url: (JSON.parse(line) as { url: string }).url,
    pid: child.pid!,
    startMs,
    async stop() {
      await stopProcess(child, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resident bytes of a process (Linux only). */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}

/** CPU time that the threads of a process took so far, in milliseconds; to the nanosecond, unlike its ticks (Linux only). */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, id) => sum + threadNs(`/proc/${pid}/task/${id}/schedstat`), 0) / 1_000_000;
}

/** A thread that ended between the listing and the look has nothing to add. */
function threadNs(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}

/** Keeps a process to one core, its threads included (Linux only). */
export function pinToCore(pid: number, core: number): void {
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(pid)], { stdio: 'ignore' });
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));
