import { create } from '@bufbuild/protobuf';
import { CancelActionSchema, ClientHeartbeatSchema, ConversationActionSchema } from '@tandem/protocol/agent';
import type {
  AgentRunRequest,
  AgentServerMessage,
  ConversationAction,
  ConversationStateStructure,
  InteractionQuery,
  InteractionUpdate,
  KvServerMessage,
} from '@tandem/protocol/agent';
import type { ExecAnswers, ExecStream } from './answer-exec.ts';
import { answerKv } from './answer-kv.ts';
import { answerToQuery } from './answer-query.ts';
import type { AnswerQuery } from './answer-query.ts';
import type { BlobStore } from './blob-store.ts';
import { pause } from './clock.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';
import { openDownlink } from './downlink.ts';
import { AttemptFailure, connectionFailure, failureOf, reasonOf } from './failure.ts';
import { limits } from './limits.ts';
import { Silence } from './silence.ts';
import { CallUplink } from './uplink-call.ts';
import { AppendUplink } from './uplink.ts';
import type { ClientBranch, Uplink } from './uplink.ts';

/** How one attempt ended. After `turn_ended` even a failure is no reason to run the turn again. */
export type AttemptEnd =
  | { outcome: 'ended' }
  | { outcome: 'cancelled' }
  | { outcome: 'failed'; failure: AttemptFailure; turnEnded: boolean };

/** Where an attempt's news go. */
export interface AttemptListener {
  onUpdate(update: InteractionUpdate): void;
  onCheckpoint(state: ConversationStateStructure): void;
  onQuestion(query: InteractionQuery): void;
  /** Something to wait for before reading on, when the reader is slow. */
  room(): Promise<void> | undefined;
}

/** Kv messages that may wait; more are read only when these are done. */
const KV_WAITING = 64;

/**
 * One request_id: its stream down, its appends up, its timers. It begins with `run` and is over when that resolves; then nothing of it is
 * left, except executions that the next attempt may take over.
 *
 * Its life: the stream opens while the run request is already on its way; messages are handled in their order; what takes time (execs,
 * blobs, questions) answers by itself. The first of these ends it: an end frame, a broken stream, a refused append, silence, `turn_ended`
 * without more, a cancel that the server did not confirm in time.
 */
export class Attempt {
  readonly requestId: string;
  /** When the last whole frame came, or the attempt began. */
  lastFrameAt: number;
  /** Whether the server accepted the stream. */
  reached = false;
  private readonly clock: Clock;
  private readonly connection: Connection;
  private readonly headers: Record<string, string>;
  private readonly blobs: BlobStore;
  private readonly answerQuery: AnswerQuery | undefined;
  private readonly listener: AttemptListener;
  private readonly uplink: Uplink;
  /** The same, when both directions are one call. */
  private readonly call: CallUplink | undefined;
  private readonly execs: ExecStream;
  private readonly silence: Silence;
  private readonly closing = new AbortController();
  private readonly stops = new Set<() => void>();
  private finish: (end: AttemptEnd) => void = () => undefined;
  private readonly end: Promise<AttemptEnd>;
  private turnEndedAt: number | undefined;
  private stopEndTimer: (() => void) | undefined;
  private cancelling = false;
  private kvWork: Promise<void> = Promise.resolve();
  private kvWaiting = 0;

  constructor(options: {
    connection: Connection;
    clock: Clock;
    requestId: string;
    originalRequestId: string;
    silenceMs: number;
    /** More headers for the requests of this attempt. */
    headers?: Record<string, string> | undefined;
    /** Whether both directions go over one call (R1). */
    duplex: boolean;
    blobs: BlobStore;
    execs: ExecAnswers;
    answerQuery: AnswerQuery | undefined;
    listener: AttemptListener;
  }) {
    this.requestId = options.requestId;
    this.clock = options.clock;
    this.connection = options.connection;
    this.blobs = options.blobs;
    this.answerQuery = options.answerQuery;
    this.listener = options.listener;
    this.lastFrameAt = options.clock.now();
    this.headers = {
      ...options.headers,
      'x-request-id': options.requestId,
      'x-original-request-id': options.originalRequestId,
    };
    this.end = new Promise(resolve => (this.finish = resolve));
    this.call = options.duplex ? new CallUplink() : undefined;
    this.uplink =
      this.call ??
      new AppendUplink({
        connection: options.connection,
        requestId: options.requestId,
        headers: this.headers,
        clock: options.clock,
        onFailure: failure => this.fail(failure),
      });
    this.silence = new Silence(options.clock, options.silenceMs, () =>
      this.fail(connectionFailure('Server silent', `no frame came from the server for ${options.silenceMs / 1000} s`)),
    );
    this.execs = options.execs.open({
      requestId: options.requestId,
      send: message => this.uplink.send(message),
      hold: () => this.silence.hold(),
      release: () => this.silence.release(),
    });
  }

  /** Plays the attempt to its end. Never rejects. */
  async run(request: AgentRunRequest): Promise<AttemptEnd> {
    const reading = this.read().catch((error: unknown) => this.fail(failureOf(error, 'the run stream failed')));
    this.post({ case: 'runRequest', value: request });
    this.beat();
    const end = await this.end;
    // What is still on its way up may finish, so that the server sees no gap; it is not worth a long wait.
    if (end.outcome !== 'failed') await Promise.race([this.uplink.flush(), pause(this.clock, limits.cancelGrace)]);
    for (const stop of this.stops) stop();
    this.stopEndTimer?.();
    this.silence.stop();
    this.execs.close();
    this.uplink.close();
    this.closing.abort();
    // An aborted request ends its body at once; a transport that does not is not waited for.
    await Promise.race([reading, pause(this.clock, limits.cancelGrace)]);
    return end;
  }

  /** Tells the server, and leaves at the latest after a second (R53). */
  cancel(reason: string): void {
    if (this.cancelling) return;
    this.cancelling = true;
    const action = create(ConversationActionSchema, {
      action: { case: 'cancelAction', value: create(CancelActionSchema, { reason }) },
    });
    this.post({ case: 'conversationAction', value: action });
    this.stops.add(
      this.clock.after(limits.cancelGrace, () =>
        this.finish({ outcome: this.turnEndedAt === undefined ? 'cancelled' : 'ended' }),
      ),
    );
  }

  /** Sends an action to the running run (§7.2). After the turn is over, or on the way out, nobody would take it. */
  act(action: ConversationAction): void {
    if (this.cancelling || this.turnEndedAt !== undefined || this.closing.signal.aborted) return;
    this.post({ case: 'conversationAction', value: action });
  }

  private fail(failure: AttemptFailure): void {
    if (this.cancelling && this.turnEndedAt === undefined) return this.finish({ outcome: 'cancelled' });
    this.finish({ outcome: 'failed', failure, turnEnded: this.turnEndedAt !== undefined });
  }

  private async read(): Promise<void> {
    const { signal } = this.closing;
    try {
      const onFrame = () => {
        this.lastFrameAt = this.clock.now();
        this.silence.touch();
      };
      const frames = await openDownlink(this.connection, {
        requestId: this.requestId,
        headers: this.headers,
        signal,
        onFrame,
        uplink: this.call?.envelopes(),
      });
      this.reached = true;
      for await (const frame of frames) {
        if (signal.aborted) return;
        if ('end' in frame) return this.ended(frame.end);
        this.handle(frame.message);
        await this.slowDown();
      }
    } catch (error) {
      // The turn is done; that the connection broke afterwards takes nothing from it.
      if (this.turnEndedAt !== undefined) return this.finish({ outcome: 'ended' });
      throw error;
    }
  }

  private ended(failure: AttemptFailure | undefined): void {
    if (failure === undefined && this.turnEndedAt !== undefined) return this.finish({ outcome: 'ended' });
    if (failure?.cancelled === true) return this.finish({ outcome: 'cancelled' });
    this.fail(failure ?? connectionFailure('Turn not finished', 'the server ended the stream without ending the turn'));
  }

  private handle({ message }: AgentServerMessage): void {
    switch (message.case) {
      case 'interactionUpdate':
        if (message.value.message.case === 'turnEnded') {
          this.turnEndedAt ??= this.clock.now();
          this.awaitEnd();
        }
        return this.listener.onUpdate(message.value);
      case 'conversationCheckpointUpdate':
        this.awaitEnd();
        return this.listener.onCheckpoint(message.value);
      case 'execServerMessage':
        return this.cancelling ? undefined : this.execs.ask(message.value);
      case 'execServerControlMessage':
        if (message.value.message.case === 'abort') this.execs.abort(message.value.message.value.id);
        return;
      case 'kvServerMessage':
        this.awaitEnd();
        return this.keep(message.value);
      case 'interactionQuery':
        return this.ask(message.value);
      default:
        // A branch of a newer schema, or a bare timing message: nothing that needs an answer.
        return;
    }
  }

  /** Blobs one after the other: a read that follows a write has to see it. */
  private keep(message: KvServerMessage): void {
    this.kvWaiting++;
    this.kvWork = this.kvWork.then(async () => {
      const value = await answerKv(message, this.blobs, this.clock);
      this.kvWaiting--;
      this.post({ case: 'kvClientMessage', value });
    });
  }

  private ask(query: InteractionQuery): void {
    this.listener.onQuestion(query);
    void answerToQuery(query, this.answerQuery, this.closing.signal).then(value =>
      this.post({ case: 'interactionResponse', value }),
    );
  }

  private async slowDown(): Promise<void> {
    const waits = [this.listener.room(), this.kvWaiting > KV_WAITING ? this.kvWork : undefined].filter(
      wait => wait !== undefined,
    );
    if (waits.length === 0) return;
    this.silence.hold();
    await Promise.race([Promise.all(waits), this.end]);
    this.silence.release();
  }

  /** After turn_ended: a server that leaves the stream open does not keep the user waiting (§24). */
  private awaitEnd(): void {
    if (this.turnEndedAt === undefined) return;
    const longest = this.turnEndedAt + limits.endAfterTurnAtMost - this.clock.now();
    this.stopEndTimer?.();
    this.stopEndTimer = this.clock.after(Math.min(limits.endAfterTurn, Math.max(0, longest)), () =>
      this.finish({ outcome: 'ended' }),
    );
  }

  /** Sends what an embedder may have had a hand in: a value that is no message fails the run, since a retry would send it again. */
  private post(message: ClientBranch): void {
    this.uplink.send(message).catch((error: unknown) => {
      const words = `${message.case} cannot be encoded: ${reasonOf(error)}`;
      this.fail(
        new AttemptFailure(
          { code: 'internal', title: 'Client error', message: words, retryable: false },
          { cause: error },
        ),
      );
    });
  }

  private beat(): void {
    const stop = this.clock.after(limits.clientHeartbeat, () => {
      this.stops.delete(stop);
      if (this.closing.signal.aborted) return;
      this.post({ case: 'clientHeartbeat', value: create(ClientHeartbeatSchema) });
      this.beat();
    });
    this.stops.add(stop);
  }
}
