import { Fault, fault, limits } from '@tandem/protocol';
import type { AgentClientMessage, AgentRunRequest } from '@tandem/protocol/agent';
import { hash } from 'node:crypto';
import { ENDED_MS, HEARTBEAT_SWEEP_MS, READERS_WAITING_PER_OWNER } from '../limits.ts';
import { logRun } from '../observe/run-line.ts';
import { Run } from '../run/run.ts';
import type { RunEnd, RunServices } from '../run/run.ts';
import type { RequestHeaders } from './request-headers.ts';
import { Stream } from './stream.ts';
import type { StreamLimits } from './stream.ts';

export interface RegistryOptions {
  readonly services: RunServices;
  readonly limits: StreamLimits;
}

/** A run as the registry knows it while it lives, and the names under which another attempt would find it. */
interface Entry {
  readonly stream: Stream;
  /** SHA-256 of the run request, to tell a late duplicate from a new use of the request id (R13). */
  requestHash: Uint8Array | undefined;
  names: string[];
}

/**
 * The streams of a server by owner and request id. The first of append and RunSSE makes the stream, the other joins it (R12).
 * One conversation has one live run, and one run one live attempt: the newer ends the older (R15).
 */
export class Registry {
  readonly #services: RunServices;
  readonly #limits: StreamLimits;
  readonly #streams = new Map<string, Entry>();
  /** Live runs by conversation, run id and original request id. */
  readonly #live = new Map<string, Stream>();
  readonly #running = new Set<Stream>();
  /** Streams without a run, by owner. */
  readonly #waiting = new Map<string, number>();
  #alone = 0;
  #cancelSweep: () => void;
  #closing: Fault | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: RegistryOptions) {
    this.#services = options.services;
    this.#limits = options.limits;
    const sweep = () => {
      for (const { stream } of this.#streams.values()) stream.beat();
      this.#cancelSweep = this.#services.clock.after(HEARTBEAT_SWEEP_MS, sweep);
    };
    this.#cancelSweep = this.#services.clock.after(HEARTBEAT_SWEEP_MS, sweep);
  }

  get streamCount(): number {
    return this.#streams.size;
  }
  get runCount(): number {
    return this.#running.size;
  }

  /**
   * The stream that a reader asks for: the live one, what is left of an ended one, or a new placeholder.
   * @throws Fault `too_many_streams` or `shutting_down`.
   */
  openForReader(owner: string, requestId: string): Stream {
    const known = this.#streams.get(keyOf(owner, requestId));
    if (known && !(known.stream.state.tag === 'ended' && known.stream.downlink.isDone)) return known.stream;
    if (this.#closing) throw this.#closing;
    return this.#create(owner, requestId, READERS_WAITING_PER_OWNER, refuseStream).stream;
  }

  /**
   * A stream for a call that carries both directions itself. It goes by its request id only if no other does; a live run is found
   * by its names whatever the call is.
   * @throws Fault `too_many_streams` or `shutting_down`.
   */
  openAlone(owner: string, requestId: string): Stream {
    if (this.#closing) throw this.#closing;
    const known = this.#streams.get(keyOf(owner, requestId));
    const key = known && known.stream.state.tag !== 'ended' ? `${requestId} (${++this.#alone})` : requestId;
    return this.#create(owner, key, READERS_WAITING_PER_OWNER, refuseStream).stream;
  }

  /** Takes an append for a stream; resolves when it may be acknowledged. What no stream wants is acknowledged all the same (R7). */
  async accept(options: {
    owner: string;
    requestId: string;
    seqno: bigint;
    message: AgentClientMessage;
    bytes: Uint8Array;
    headers: RequestHeaders;
  }): Promise<void> {
    const { owner, requestId, message, bytes, headers } = options;
    const seqno = options.seqno <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(options.seqno) : Number.MAX_SAFE_INTEGER;
    const isRunRequest = message.message.case === 'runRequest';
    let entry = this.#streams.get(keyOf(owner, requestId));
    if (entry?.stream.state.tag === 'ended') {
      const isAgain =
        isRunRequest &&
        seqno <= 1 &&
        entry.requestHash !== undefined &&
        Buffer.compare(entry.requestHash, digest(bytes)) !== 0;
      if (!isAgain) return entry.stream.accept(seqno, message, headers, bytes.length);
      entry = undefined;
    }
    if (!entry) {
      if (this.#closing) {
        if (isRunRequest) throw this.#closing;
        return;
      }
      // a long numbered message for a stream that nobody knows: a client of an earlier process, or a stray
      if (seqno > limits.heldMessages) return;
      entry = this.#create(owner, requestId, limits.placeholdersPerOwner, () => this.#dropOldestPlaceholder(owner));
    }
    if (isRunRequest) entry.requestHash ??= digest(bytes);
    await entry.stream.accept(seqno, message, headers, bytes.length);
  }

  #create(owner: string, requestId: string, most: number, onTooMany: () => void): Entry {
    if ((this.#waiting.get(owner) ?? 0) >= most) onTooMany();
    const { clock, log } = this.#services;
    const stream = new Stream({
      requestId,
      owner,
      clock,
      log,
      limits: this.#limits,
      startRun: (request, headers, one) => this.#startRun(request, headers, one),
      onEnd: one => this.#ended(one),
    });
    const entry: Entry = { stream, requestHash: undefined, names: [] };
    this.#streams.set(keyOf(owner, requestId), entry);
    this.#waiting.set(owner, (this.#waiting.get(owner) ?? 0) + 1);
    return entry;
  }

  /** Room for an append: the oldest stream that waits and that nobody reads goes. */
  #dropOldestPlaceholder(owner: string): void {
    for (const { stream } of this.#streams.values()) {
      if (stream.owner !== owner || stream.state.tag !== 'waiting' || stream.downlink.hasReader) continue;
      stream.end(fault('too_many_streams', 'Too many streams wait for their other half.'));
      this.#forget(stream);
      return;
    }
  }

  #startRun(request: AgentRunRequest, headers: RequestHeaders, stream: Stream): Run {
    const { owner, requestId } = stream;
    const { log } = this.#services;
    const run = new Run({
      request,
      facts: {
        requestId,
        scope: { owner, sealKey: headers.sealKey },
        allowedTools: headers.allowedTools,
        excludedTools: headers.excludedTools,
      },
      services: this.#services,
      outbox: stream,
      onEnd: end => {
        stream.end(end.fault);
        void this.#account(run, stream, headers, end);
      },
    });
    const names = [
      keyOf(owner, `conversation:${run.conversationId}`),
      keyOf(owner, `run:${run.runId}`),
      keyOf(owner, `attempt:${headers.originalRequestId ?? requestId}`),
    ];
    for (const name of names) {
      this.#live
        .get(name)
        ?.fail(
          fault(
            'superseded',
            headers.originalRequestId || name.includes('run:')
              ? 'A new attempt of this run took over.'
              : 'A newer message in this conversation took over.',
          ),
        );
    }
    const entry = this.#streams.get(keyOf(owner, requestId));
    if (entry?.stream === stream) entry.names = names;
    for (const name of names) this.#live.set(name, stream);
    this.#running.add(stream);
    this.#isNoLongerWaiting(owner);
    if (this.#closing) queueMicrotask(() => stream.fail(this.#closing!));
    // after the stream knows its run: the first frames may depend on who reads
    queueMicrotask(() => {
      run.start().catch((error: unknown) => {
        // the end itself failed: a bug of ours, which must cost this stream and nothing else (F10)
        log.error({ requestId, error }, 'a run could not be ended in order');
        stream.end(Fault.from(error));
      });
    });
    return run;
  }

  #isNoLongerWaiting(owner: string): void {
    const left = (this.#waiting.get(owner) ?? 1) - 1;
    if (left > 0) this.#waiting.set(owner, left);
    else this.#waiting.delete(owner);
  }

  #ended(stream: Stream): void {
    if (!this.#running.delete(stream)) this.#isNoLongerWaiting(stream.owner);
    for (const [name, live] of this.#live) if (live === stream) this.#live.delete(name);
    this.#services.clock.after(ENDED_MS, () => this.#forget(stream));
    if (this.#running.size === 0) this.#onIdle?.();
  }

  #forget(stream: Stream): void {
    const key = keyOf(stream.owner, stream.requestId);
    if (this.#streams.get(key)?.stream === stream) this.#streams.delete(key);
  }

  async #account(run: Run, stream: Stream, headers: RequestHeaders, end: RunEnd): Promise<void> {
    const { log, store } = this.#services;
    const outcome = end.fault?.code ?? 'ended';
    const { requestId, owner } = stream;
    const { runId, conversationId } = run;
    const { account } = end;
    logRun(log, {
      owner,
      requestId,
      runId,
      conversationId,
      ...(headers.client ? { client: headers.client } : {}),
      ...(account.modelKey ? { model: account.modelKey } : {}),
      outcome: outcome === 'canceled' ? outcome : (end.fault?.name_ ?? 'ended'),
      ...(end.fault ? { detail: end.fault.detail } : {}),
      durationMs: end.endedAt - end.startedAt,
      ...(account.firstOutputAt === undefined ? {} : { firstOutputMs: account.firstOutputAt - end.startedAt }),
      modelCalls: account.modelCalls,
      toolCalls: account.toolCalls,
      retries: account.retries,
      usage: account.usage,
      ...(Object.keys(account.cost).length > 0 ? { cost: account.cost } : {}),
    });
    try {
      await store.ledger.recordRun(
        { owner },
        {
          runId: run.runId,
          requestId,
          conversationId: run.conversationId,
          model: account.modelKey,
          startedAt: end.startedAt,
          endedAt: end.endedAt,
          outcome,
          usage: { ...account.usage },
        },
      );
    } catch (error) {
      log.error({ error: String(error) }, 'a run could not be written to the ledger'); // the turn itself was fine (S06)
    }
  }

  /** Takes no new runs; resolves when the last one is over, or after `ms`, when the rest was ended retryably. */
  async drain(ms: number): Promise<void> {
    const reason = shuttingDown();
    this.#closing = reason;
    for (const { stream } of [...this.#streams.values()]) if (stream.state.tag === 'waiting') stream.end(reason);
    if (this.#running.size > 0) {
      await new Promise<void>(resolve => {
        this.#onIdle = resolve;
        this.#services.clock.after(ms, resolve);
      });
    }
    this.stop();
  }

  /** Resolves once whoever reads an ended stream, a client that polls included, has its last frame. */
  async untilRead(): Promise<void> {
    const unread = [...this.#streams.values()].filter(({ stream }) => stream.isRead && stream.state.tag === 'ended');
    await Promise.all(unread.map(({ stream }) => new Promise<void>(resolve => stream.downlink.onDone(resolve))));
  }

  /** Ends every stream at once. */
  stop(): void {
    const reason = (this.#closing ??= shuttingDown());
    for (const { stream } of [...this.#streams.values()]) stream.fail(reason);
    this.#cancelSweep();
  }
}

function refuseStream(): never {
  throw fault(
    'too_many_streams',
    `${READERS_WAITING_PER_OWNER} streams already wait for their first message. Append to those, or close them.`,
  );
}

const keyOf = (owner: string, name: string) => `${owner}\0${name}`;
const digest = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer');

const shuttingDown = () =>
  fault('shutting_down', 'The server is shutting down. The run can be resumed from its last checkpoint.');
