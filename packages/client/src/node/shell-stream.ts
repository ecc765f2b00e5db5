import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  SandboxPolicy_Type,
  ShellAbortReason,
  ShellBackgroundReason,
  ShellStreamSchema,
  TimeoutBehavior,
} from '@tandem/protocol/agent';
import type { ShellArgs } from '@tandem/protocol/agent';
import { stat } from 'node:fs/promises';
import type { ExecAnswer, Executor } from '../executor.ts';
import { AnswerQueue } from './answer-queue.ts';
import type { Machine } from './machine.ts';
import { OutputLog } from './output-log.ts';
import { OutputPieces } from './output-pieces.ts';
import { ShellProcess, untrackGroup } from './shell-process.ts';
import { messageOf } from './workspace.ts';

/** Characters of output sent for one command; the head is kept. The whole is in the file that the exit names. */
const OUTPUT_CAP = 1_000_000;

/** Bytes kept in memory at most, whatever the server asks for, before a file is used. */
const MEMORY_CAP = 1_000_000;

/** The exit code of a command that was stopped: -1 as an unsigned number, as stock clients send it. */
const STOPPED = 0xffffffff;

/** Longest delay that a timer of this platform holds. */
const LONGEST_TIMER = 0x7fffffff;

type Event = NonNullable<MessageInitShape<typeof ShellStreamSchema>['event']>;

/**
 * Runs a command and streams its output (R30). After `timeout` milliseconds in the foreground it goes to the background or is stopped, as
 * `timeout_behavior` says; `hard_timeout` stops it wherever it is. Approval comes first and counts for no time.
 */
export function shellStreamExecutor(machine: Machine): Executor<'shellStreamArgs'> {
  return {
    kind: 'shellStreamArgs',
    // Its own limits hold, and a human may be asked.
    deadlineMs: null,
    run: (args, { signal }) => streamShell(machine, args, signal),
  };
}

async function* streamShell(machine: Machine, args: ShellArgs, signal: AbortSignal): AsyncGenerator<ExecAnswer> {
  const refusal = await checkLeave(machine, args, signal);
  if (refusal !== undefined) return yield answer(refusal);
  signal.throwIfAborted();
  const events = new AnswerQueue<ExecAnswer>();
  await startJob(machine, args, signal, events);
  yield* events;
}

/** The event that refuses a command; undefined when it may run. */
async function checkLeave(machine: Machine, args: ShellArgs, signal: AbortSignal): Promise<Event | undefined> {
  const { workspace, permission } = machine;
  const { command } = args;
  const workingDirectory = workspace.resolve(args.workingDirectory);
  const isFolder = await stat(workingDirectory).then(
    stats => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    const reason = `the working directory ${workingDirectory} does not exist`;
    return { case: 'rejected', value: { command, workingDirectory, reason, isReadonly: false } };
  }
  const verdict = await permission.run({
    command,
    workingDirectory,
    inside: workspace.contains(await workspace.real(workingDirectory)),
    denied: args.adminCommandDenylist,
    signal,
  });
  if (verdict.allowed) return undefined;
  const value = { command, workingDirectory, reason: verdict.reason, isReadonly: verdict.readOnly };
  return { case: 'rejected', value: value };
}

async function startJob(
  machine: Machine,
  args: ShellArgs,
  signal: AbortSignal,
  events: AnswerQueue<ExecAnswer>,
): Promise<void> {
  const cwd = machine.workspace.resolve(args.workingDirectory);
  const threshold = args.fileOutputThresholdBytes === undefined ? MEMORY_CAP : Number(args.fileOutputThresholdBytes);
  const log = new OutputLog(machine.terminals, Math.min(threshold, MEMORY_CAP));
  const pieces = new OutputPieces(OUTPUT_CAP, (stream, data) => events.push(answer(outputEvent(stream, data))));
  const startedAt = Date.now();
  const shell = await ShellProcess.start({
    command: args.command,
    cwd,
    env: machine.env,
    closeStdin: args.closeStdin,
    onOutput(stream, chunk) {
      log.write(chunk);
      pieces.write(stream, chunk);
    },
  });
  events.push(answer({ case: 'start', value: { sandboxPolicy: { type: SandboxPolicy_Type.INSECURE_NONE } } }));

  let stopped: ShellAbortReason | undefined;
  let background = false;
  const stop = (reason: ShellAbortReason) => {
    stopped ??= reason;
    shell.kill();
  };
  const timers = new Set<NodeJS.Timeout>();
  const after = (delay: number, work: () => void) => timers.add(setTimeout(work, Math.min(delay, LONGEST_TIMER)));
  const toBackground = () => {
    try {
      const file = machine.terminals.open('shell');
      background = true;
      pieces.end();
      log.moveTo(file, terminalHeader(shell.pid, cwd, args.command));
      untrackGroup(shell);
      shell.unref();
      for (const timer of timers) timer.unref();
      const value = {
        shellId: file.shellId,
        command: args.command,
        workingDirectory: cwd,
        pid: shell.pid,
        msToWait: args.timeout,
      };
      events.push(answer({ case: 'backgrounded', value: { ...value, reason: ShellBackgroundReason.TIMEOUT } }));
      events.end();
    } catch (error) {
      // Without its file the output would be lost, and the model would wait for a file that never comes.
      shell.kill();
      events.end(new Error(`the command cannot go to the background: ${messageOf(error)}`));
    }
  };
  const onAbort = () => {
    if (!background) stop(ShellAbortReason.USER_ABORT);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const staysRunning = args.timeoutBehavior === TimeoutBehavior.BACKGROUND || args.isBackground;
  if (args.timeout > 0) after(args.timeout, staysRunning ? toBackground : () => stop(ShellAbortReason.TIMEOUT));
  else if (staysRunning) toBackground();
  if ((args.hardTimeout ?? 0) > 0) after(args.hardTimeout ?? 0, () => stop(ShellAbortReason.TIMEOUT));
  if (background) for (const timer of timers) timer.unref();

  void shell.ended.then(end => {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    const elapsed = Date.now() - startedAt;
    if (background) return log.close(terminalFooter(end.code, elapsed));
    pieces.end();
    log.close();
    events.push(answer({ case: 'exit', value: exitOf(end, stopped, elapsed, log) }));
    events.end();
  });
}

function exitOf(
  end: { code: number; cwd: string },
  stopped: ShellAbortReason | undefined,
  elapsed: number,
  log: OutputLog,
) {
  const location = log.location();
  return {
    code: stopped === undefined ? end.code : STOPPED,
    cwd: end.cwd,
    aborted: stopped !== undefined,
    ...(stopped === undefined ? {} : { abortReason: stopped }),
    ...(location === undefined ? {} : { outputLocation: location }),
    localExecutionTimeMs: Math.min(elapsed, 0x7fffffff),
  };
}

/** What stands before the output in a terminal file. JSON text is also YAML, and keeps a command of many lines on one. */
export function terminalHeader(pid: number, cwd: string, command: string): string {
  return `---\npid: ${pid}\ncwd: ${JSON.stringify(cwd)}\ncommand: ${JSON.stringify(command)}\n---\n`;
}

/** What stands after it, once the command has ended. */
export function terminalFooter(exitCode: number, elapsedMs: number): string {
  return `\n---\nexit_code: ${exitCode}\nelapsed_ms: ${elapsedMs}\n---\n`;
}

function outputEvent(stream: 'stdout' | 'stderr', data: string): Event {
  return stream === 'stdout' ? { case: 'stdout', value: { data } } : { case: 'stderr', value: { data } };
}

function answer(event: Event): ExecAnswer {
  return { case: 'shellStream', value: create(ShellStreamSchema, { event }) };
}
