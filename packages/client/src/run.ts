import type { ConversationStateStructure, InteractionUpdate, UserMessage } from '@tandem/protocol/agent';
import { ExecAnswers } from './answer-exec.ts';
import { questionEvent } from './answer-query.ts';
import type { AnswerQuery } from './answer-query.ts';
import { Attempt } from './attempt.ts';
import type { AttemptEnd } from './attempt.ts';
import type { BlobStore } from './blob-store.ts';
import { pause } from './clock.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { EventQueue } from './event-queue.ts';
import type { EndEvent, RunEvent, Usage } from './event.ts';
import type { Executors } from './executor.ts';
import { isRefusal } from './failure.ts';
import type { RunError } from './failure.ts';
import type { Ids } from './ids.ts';
import { Injections } from './injection.ts';
import type { InjectionOutcome } from './injection.ts';
import { limits } from './limits.ts';
import { Progress } from './progress.ts';
import { Retry } from './retry.ts';
import { childHeaders, makeRunRequest, makeUserMessage } from './run-request.ts';
import type { ChildOrigin, RunOptions } from './run-request.ts';
import type { BeginChild, Children } from './subagent/children.ts';
import { childExecutors } from './subagent/executors.ts';
import { checkpointEvent, translateUpdate, usageOf } from './translate.ts';

/** One run: one turn of a conversation, over as many attempts as it takes. Its events are read by `for await`, once. */
export interface Run extends AsyncIterable<RunEvent> {
  readonly conversationId: string;
  /** The request id of the first attempt; later ones name it as their origin (R9). */
  readonly requestId: string;
  /** The last checkpoint, or the state that the run began with. */
  readonly state: ConversationStateStructure | undefined;
  /** Cancels the run: the server is told, shells are killed, and `done` resolves within about a second. */
  cancel(reason?: string): void;
  /** Gives the running run more to consider (R65). Never rejects. */
  inject(text: string): Promise<InjectionOutcome>;
  /** How it ended; the same object as the last event. Never rejects. */
  readonly done: Promise<EndEvent>;
}

/** What the client lends to its runs. */
export interface RunSurroundings {
  connection: Connection;
  executors: Executors;
  blobs: BlobStore;
  answerQuery: AnswerQuery | undefined;
  clock: Clock;
  ids: Ids;
  silenceMs: number;
  /** The child runs of this client. */
  children: Children;
  /** What makes this run a child; such a run is never tried again, since its parent decides (R54). */
  child?: ChildOrigin;
  /** How many runs stand above this one. */
  depth?: number;
  /** Told of each checkpoint before its event. */
  onCheckpoint?: (state: ConversationStateStructure) => void;
}

type Outcome = { outcome: 'ended' | 'cancelled' } | { outcome: 'failed'; error: RunError };

/** Begins a run. Whatever goes wrong becomes its end event. */
export class AgentRun implements Run {
  readonly conversationId: string;
  readonly requestId: string;
  readonly done: Promise<EndEvent>;
  private readonly surroundings: RunSurroundings;
  private readonly options: RunOptions;
  private readonly runId: string;
  private readonly userMessage: UserMessage;
  private readonly execs: ExecAnswers;
  private readonly injections: Injections;
  private readonly events = new EventQueue<RunEvent>();
  private readonly progress = new Progress();
  private readonly cancelled = new AbortController();
  private checkpoint: ConversationStateStructure | undefined;
  private changedSinceCheckpoint = false;
  private hadOutput = false;
  private attempt: Attempt | undefined;
  private usage: Usage | undefined;

  constructor(surroundings: RunSurroundings, options: RunOptions) {
    const { ids, clock } = surroundings;
    this.surroundings = surroundings;
    this.options = options;
    this.conversationId = options.conversationId ?? ids.uuid();
    this.requestId = ids.uuid();
    this.runId = ids.uuid();
    this.userMessage = makeUserMessage(options, ids, surroundings.child?.selectedContext);
    this.injections = new Injections(this.runId);
    const { children, depth = 0 } = surroundings;
    const begin: BeginChild = (child, run, childExecutors) =>
      new AgentRun(
        { ...surroundings, executors: childExecutors, child, depth: depth + 1, onCheckpoint: () => undefined },
        run,
      );
    const parent = {
      begin,
      depth,
      executors: surroundings.executors,
      conversationId: this.conversationId,
      report: (id: string, event: RunEvent) => this.show({ type: 'child', id, event }),
    };
    // What an embedder brings for one of these kinds comes later in the list, and so counts.
    const executors = [...childExecutors(children, parent), ...surroundings.executors];
    this.execs = new ExecAnswers({ executors, clock, onChange: () => (this.changedSinceCheckpoint = true) });
    const onAbort = () => this.cancel();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    if (options.signal?.aborted === true) this.cancel();
    this.done = this.play().then(end => {
      options.signal?.removeEventListener('abort', onAbort);
      return end;
    });
  }

  get state(): ConversationStateStructure | undefined {
    return this.checkpoint ?? this.options.state;
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.events.read();
  }

  cancel(reason = 'cancelled by the user'): void {
    if (this.cancelled.signal.aborted) return;
    this.cancelled.abort();
    this.attempt?.cancel(reason);
    void this.execs.abortAll(reason);
  }

  inject(text: string): Promise<InjectionOutcome> {
    const { ids } = this.surroundings;
    return this.injections.add({ id: ids.uuid(), messageId: ids.uuid(), text }, action => this.attempt?.act(action));
  }

  private async play(): Promise<EndEvent> {
    let outcome: Outcome;
    try {
      outcome = await this.tryUntilDone();
    } catch (error) {
      // A fault of our own; even that has to end the run in order.
      const message = error instanceof Error ? error.message : String(error);
      outcome = { outcome: 'failed', error: { code: 'internal', title: 'Client error', message, retryable: false } };
    }
    this.injections.close();
    await this.execs.abortAll('the run is over');
    for (const event of this.progress.closeOpen()) this.events.push(event);
    const end: EndEvent = {
      type: 'end',
      outcome: outcome.outcome,
      text: this.progress.text,
      ...(this.usage === undefined ? {} : { usage: this.usage }),
      conversationId: this.conversationId,
      ...(outcome.outcome === 'failed' ? { error: outcome.error } : {}),
    };
    this.events.end(end);
    return end;
  }

  private async tryUntilDone(): Promise<Outcome> {
    const { clock, ids } = this.surroundings;
    const retry = new Retry(ids);
    let everReached = false;
    for (let number = 1; ; number++) {
      if (this.cancelled.signal.aborted) return { outcome: 'cancelled' };
      const startedAt = clock.now();
      const attempt = this.makeAttempt(number === 1 ? this.requestId : ids.uuid(), await this.isDuplex());
      const end = await this.playAttempt(attempt);
      everReached ||= attempt.reached;
      if (end.outcome !== 'failed') return end;
      const decision = retry.decide({
        failure: end.failure,
        turnEnded: end.turnEnded,
        changedSinceCheckpoint: this.changedSinceCheckpoint,
        everReached,
        refused: isRefusal(end.failure),
        hadOutput: this.hadOutput,
        lasted: attempt.lastFrameAt - startedAt,
        silent: clock.now() - attempt.lastFrameAt,
      });
      if (!decision.again || this.surroundings.child !== undefined) {
        const { error } = end.failure;
        const message =
          decision.again || decision.because === undefined ? error.message : `${error.message} (${decision.because})`;
        return { outcome: 'failed', error: { ...error, message } };
      }
      for (const event of this.progress.closeOpen()) this.events.push(event);
      const { message: reason, error } = end.failure;
      this.show({ type: 'retry', attempt: number + 1, delayMs: decision.delayMs, reason, error });
      await pause(clock, decision.delayMs, this.cancelled.signal);
      this.progress.restart(this.checkpoint !== undefined);
    }
  }

  /** Without an answer the other way is taken: its own failure then tells what is wrong with the connection. */
  private async isDuplex(): Promise<boolean> {
    const { transport, baseUrl } = this.surroundings.connection;
    if (typeof transport.duplex === 'boolean') return transport.duplex;
    const deadline = new AbortController();
    const stop = this.surroundings.clock.after(limits.unaryDeadline, () => deadline.abort());
    try {
      return await transport.duplex(baseUrl, AbortSignal.any([deadline.signal, this.cancelled.signal]));
    } catch {
      return false;
    } finally {
      stop();
    }
  }

  private makeAttempt(requestId: string, duplex: boolean): Attempt {
    const { connection, clock, silenceMs, blobs, answerQuery } = this.surroundings;
    return new Attempt({
      connection,
      clock,
      requestId,
      originalRequestId: this.requestId,
      silenceMs,
      headers: childHeaders(this.surroundings.child),
      duplex,
      blobs,
      execs: this.execs,
      answerQuery,
      listener: {
        onUpdate: update => this.update(update),
        onCheckpoint: state => {
          this.checkpoint = state;
          this.changedSinceCheckpoint = false;
          this.surroundings.onCheckpoint?.(state);
          this.show(checkpointEvent(state));
        },
        onQuestion: query => this.show(questionEvent(query)),
        room: () => this.events.room(),
      },
    });
  }

  private async playAttempt(attempt: Attempt): Promise<AttemptEnd> {
    this.attempt = attempt;
    const request = makeRunRequest({
      options: this.options,
      conversationId: this.conversationId,
      runId: this.runId,
      userMessage: this.userMessage,
      checkpoint: this.checkpoint,
      child: this.surroundings.child,
    });
    try {
      const end = attempt.run(request);
      this.injections.repeat(action => attempt.act(action));
      return await end;
    } finally {
      this.attempt = undefined;
    }
  }

  private update(update: InteractionUpdate): void {
    this.injections.note(update);
    if (update.message.case === 'turnEnded') this.usage = usageOf(update.message.value);
    for (const event of translateUpdate(update)) this.show(event);
  }

  private show(event: RunEvent): void {
    this.progress.note(event);
    this.hadOutput ||= event.type === 'text' || event.type === 'thinking' || event.type === 'tool';
    this.events.push(event);
  }
}
