import type { Clock } from './clock.ts';
import { hasSideEffect } from './executor.ts';
import type { AnyExecutor, ExecAnswer, ExecContext, ExecKind } from './executor.ts';
import { limits } from './limits.ts';

/** How one exec ended: with its last answer, or with an error that is sent as `throw`. */
export type ExecutionEnd = { thrown: undefined } | { thrown: Error };

/**
 * One run of an executor, apart from the stream that asked for it: the answers are kept, so a repeated question, or the same question
 * on the next attempt's stream, gets them again instead of a second run.
 */
export class Execution {
  readonly kind: ExecKind;
  readonly toolCallId: string;
  readonly startedAt: number;
  /** The arguments as bytes in text form: two execs are the same only when these are equal. */
  readonly fingerprint: string;
  private readonly clock: Clock;
  private readonly controller = new AbortController();
  private readonly answers: ExecAnswer[] = [];
  private readonly watchers = new Set<() => void>();
  private end: ExecutionEnd | undefined;
  private endedAt = 0;
  private bytes = 0;

  constructor(options: {
    executor: AnyExecutor;
    args: unknown;
    toolCallId: string;
    fingerprint: string;
    clock: Clock;
    requestId?: string | undefined;
  }) {
    this.kind = options.executor.kind;
    this.toolCallId = options.toolCallId;
    this.fingerprint = options.fingerprint;
    this.clock = options.clock;
    this.startedAt = options.clock.now();
    void this.work(options.executor, options.args, options.requestId);
  }

  get settled(): boolean {
    return this.end !== undefined;
  }

  /** Milliseconds that it took, or takes so far. */
  get elapsed(): number {
    return (this.settled ? this.endedAt : this.clock.now()) - this.startedAt;
  }

  /** Whether it was stopped from outside. */
  get aborted(): boolean {
    return this.controller.signal.aborted;
  }

  /** About how many bytes the kept answers take. */
  get size(): number {
    return this.bytes;
  }

  /** Whether something may have been changed: it ran, and was not refused by policy. */
  get changedSomething(): boolean {
    return hasSideEffect(this.kind) && !this.answers.some(isRefusal);
  }

  /** Stops the work. An executor that does not obey is left alone after a moment, and the exec ends with an error. */
  abort(reason: string): void {
    if (this.settled || this.controller.signal.aborted) return;
    this.controller.abort(new Error(reason));
    this.clock.after(limits.abortGrace, () => this.finish({ thrown: new Error(reason) }));
  }

  /** All answers from the first one, going on as new ones come, until the end. Several may follow at once. */
  async *follow(): AsyncGenerator<ExecAnswer, ExecutionEnd> {
    for (let index = 0; ;) {
      while (index < this.answers.length) yield this.answers[index++]!;
      if (this.end !== undefined) return this.end;
      await this.change();
    }
  }

  /** Resolves when the work is over. */
  async over(): Promise<void> {
    while (this.end === undefined) await this.change();
  }

  private change(): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        this.watchers.delete(wake);
        resolve();
      };
      this.watchers.add(wake);
    });
  }

  private async work(executor: AnyExecutor, args: unknown, requestId: string | undefined): Promise<void> {
    const deadline = executor.deadlineMs === undefined ? limits.execDeadline : executor.deadlineMs;
    const stop =
      deadline === null
        ? () => undefined
        : this.clock.after(deadline, () => this.abort(`${this.kind} did not finish within ${deadline} ms`));
    try {
      // The kind of the arguments is that of the executor: both were chosen by the same branch.
      const anyKind = executor as { run(args: unknown, context: ExecContext): ReturnType<AnyExecutor['run']> };
      const outcome = anyKind.run(args, {
        signal: this.controller.signal,
        ...(requestId === undefined ? {} : { requestId }),
      });
      if (Symbol.asyncIterator in outcome) for await (const answer of outcome) this.add(answer);
      else this.add(await outcome);
      this.finish({ thrown: undefined });
    } catch (error) {
      this.finish({ thrown: error instanceof Error ? error : new Error(String(error)) });
    } finally {
      stop();
    }
  }

  private add(answer: ExecAnswer): void {
    // Given up already: a late answer would follow its own end.
    if (this.settled) return;
    this.answers.push(answer);
    this.bytes += roughSize(answer.value);
    this.notify();
  }

  private finish(end: ExecutionEnd): void {
    if (this.settled) return;
    this.end = end;
    this.endedAt = this.clock.now();
    this.notify();
  }

  private notify(): void {
    // Each takes itself out of the set, which a loop over a set allows.
    for (const wake of this.watchers) wake();
  }
}

function isRefusal(answer: ExecAnswer): boolean {
  const value = answer.value as unknown as Record<string, { case?: string } | undefined>;
  const branch = value['result']?.case ?? value['event']?.case;
  return branch === 'rejected' || branch === 'permissionDenied';
}

/** Text and bytes below a value; what is small beside them is not counted. */
function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + roughSize(part), 64);
}
