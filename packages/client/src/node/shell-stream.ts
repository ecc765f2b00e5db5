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
import type { ExecAnswer, Executor } from '../executor.ts';
import { AnswerQueue } from './answer-queue.ts';
import type { Machine } from './machine.ts';
import { ShellJob, checkLeave } from './shell-job.ts';
import type { JobEnd } from './shell-job.ts';
import { messageOf } from './workspace.ts';

/** The exit code of a command that was stopped: -1 as an unsigned number, as stock clients send it. */
const STOPPED = 0xffffffff;

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
  if (refusal !== undefined) return yield answer({ case: 'rejected', value: refusal });
  signal.throwIfAborted();
  const events = new AnswerQueue<ExecAnswer>();
  await startJob(machine, args, signal, events);
  yield* events;
}

async function startJob(
  machine: Machine,
  args: ShellArgs,
  signal: AbortSignal,
  events: AnswerQueue<ExecAnswer>,
): Promise<void> {
  const job = await ShellJob.start(machine, {
    command: args.command,
    cwd: machine.workspace.resolve(args.workingDirectory),
    closeStdin: args.closeStdin,
    threshold: args.fileOutputThresholdBytes === undefined ? undefined : Number(args.fileOutputThresholdBytes),
    onPiece: (stream, data) => events.push(answer(outputEvent(stream, data))),
  });
  events.push(answer({ case: 'start', value: { sandboxPolicy: { type: SandboxPolicy_Type.INSECURE_NONE } } }));

  const { foreground } = machine.shells;
  const isForeground = () => job.shellId === undefined;
  const toBackground = (reason: ShellBackgroundReason) => {
    if (!isForeground()) return;
    foreground.delete(args.toolCallId);
    try {
      const shellId = job.toBackground();
      const { command, cwd: workingDirectory, pid } = job;
      const value = { shellId, command, workingDirectory, pid, msToWait: args.timeout, reason };
      events.push(answer({ case: 'backgrounded', value }));
      events.end();
    } catch (error) {
      // Without its file the output would be lost, and the model would wait for a file that never comes.
      job.stop(ShellAbortReason.UNSPECIFIED);
      events.end(new Error(`the command cannot go to the background: ${messageOf(error)}`));
    }
  };
  const onAbort = () => {
    if (isForeground()) job.stop(ShellAbortReason.USER_ABORT);
  };
  const onTimeout = () => job.stop(ShellAbortReason.TIMEOUT);
  const onPatience = () => toBackground(ShellBackgroundReason.TIMEOUT);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  if (args.toolCallId !== '') foreground.set(args.toolCallId, () => toBackground(ShellBackgroundReason.USER_REQUEST));
  const staysRunning = args.timeoutBehavior === TimeoutBehavior.BACKGROUND || args.isBackground;
  if ((args.hardTimeout ?? 0) > 0) job.after(args.hardTimeout ?? 0, onTimeout);
  if (args.timeout > 0) job.after(args.timeout, staysRunning ? onPatience : onTimeout);
  else if (staysRunning) onPatience();

  void job.ended.then(end => {
    signal.removeEventListener('abort', onAbort);
    if (!isForeground()) return;
    foreground.delete(args.toolCallId);
    events.push(answer({ case: 'exit', value: exitOf(end) }));
    events.end();
  });
}

function exitOf(end: JobEnd) {
  return {
    code: end.stopped === undefined ? end.code : STOPPED,
    cwd: end.cwd,
    aborted: end.stopped !== undefined,
    ...(end.stopped === undefined ? {} : { abortReason: end.stopped }),
    ...(end.location === undefined ? {} : { outputLocation: end.location }),
    localExecutionTimeMs: Math.min(end.elapsedMs, 0x7fffffff),
  };
}

function outputEvent(stream: 'stdout' | 'stderr', data: string): Event {
  return stream === 'stdout' ? { case: 'stdout', value: { data } } : { case: 'stderr', value: { data } };
}

function answer(event: Event): ExecAnswer {
  return { case: 'shellStream', value: create(ShellStreamSchema, { event }) };
}
