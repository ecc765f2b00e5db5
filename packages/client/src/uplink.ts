import { create, toBinary } from '@bufbuild/protobuf';
import { encodeAppend } from '@tandem/protocol';
import { AgentClientMessageSchema } from '@tandem/protocol/agent';
import type { AgentClientMessage } from '@tandem/protocol/agent';
import type { Clock } from './clock.ts';
import { paths } from './connection.ts';
import type { Connection } from './connection.ts';
import { refusal } from './downlink.ts';
import { connectionFailure, failureOf, protocolFailure } from './failure.ts';
import type { AttemptFailure } from './failure.ts';
import { limits } from './limits.ts';
import { readBody } from './transport.ts';

/** The branch of one message to the server. */
export type ClientBranch = AgentClientMessage['message'];

/** The way up of one attempt, whatever carries it. */
export interface Uplink {
  /** Sends one message, in the order of the calls. Resolves when the next one may come; rejects only when it cannot be encoded. */
  send(message: ClientBranch): Promise<void>;
  /** Resolves when everything sent so far is on the other side, as far as that can be known, or the uplink is closed. */
  flush(): Promise<void>;
  /** Drops what is on its way. */
  close(): void;
}

/**
 * The way up beside RunSSE: every message becomes one BidiAppend (§2.1), numbered from 0 in the order of `send` (R10). Appends run
 * beside each other, since the server orders them by number. The first that fails is reported once; nothing is sent twice.
 */
export class AppendUplink implements Uplink {
  private readonly connection: Connection;
  private readonly requestId: string;
  private readonly headers: Record<string, string>;
  private readonly clock: Clock;
  private readonly onFailure: (failure: AttemptFailure) => void;
  private readonly closing = new AbortController();
  private readonly inFlight = new Set<Promise<void>>();
  private readonly waiting: (() => void)[] = [];
  private nextNumber = 0n;

  constructor(options: {
    connection: Connection;
    requestId: string;
    headers: Record<string, string>;
    clock: Clock;
    /** Called at most once. */
    onFailure: (failure: AttemptFailure) => void;
  }) {
    this.connection = options.connection;
    this.requestId = options.requestId;
    this.headers = options.headers;
    this.clock = options.clock;
    this.onFailure = options.onFailure;
  }

  /**
   * Sends one message. The number is given at once, so messages keep the order of the calls. Resolves when the next one may come: a
   * caller that awaits it never has more on its way than the limit allows. Rejects only when the message cannot be encoded: then nothing
   * was sent, and no number is lost.
   */
  async send(message: ClientBranch): Promise<void> {
    if (this.closing.signal.aborted) return;
    const bytes = toBinary(AgentClientMessageSchema, create(AgentClientMessageSchema, { message }));
    const seqno = this.nextNumber++;
    const append = this.append(seqno, bytes).catch((error: unknown) => this.fail(error));
    this.inFlight.add(append);
    void append.then(() => {
      this.inFlight.delete(append);
      this.waiting.shift()?.();
    });
    while (this.inFlight.size >= limits.appendsInFlight && !this.closing.signal.aborted) {
      await new Promise<void>(resolve => this.waiting.push(resolve));
    }
  }

  /** Resolves when everything sent so far was acknowledged, or the uplink is closed. */
  async flush(): Promise<void> {
    await Promise.all(this.inFlight);
  }

  /** Drops what is on its way. */
  close(): void {
    this.closing.abort();
    for (const wake of this.waiting.splice(0)) wake();
  }

  private fail(error: unknown): void {
    if (this.closing.signal.aborted) return;
    this.close();
    this.onFailure(failureOf(error, 'a message to the server was not accepted'));
  }

  private async append(seqno: bigint, bytes: Uint8Array): Promise<void> {
    const body = encodeAppend({ requestId: this.requestId, seqno, bytes });
    const deadline = limits.appendDeadline + Math.ceil(body.length / limits.appendBytesPerMillisecond);
    const abort = new AbortController();
    const signal = AbortSignal.any([this.closing.signal, abort.signal]);
    const stop = this.clock.after(deadline, () =>
      abort.abort(
        connectionFailure(
          'Append not acknowledged',
          `the server did not acknowledge message ${seqno} within ${deadline} ms`,
        ),
      ),
    );
    try {
      const answer = await this.connection.transport.exchange({
        method: 'POST',
        url: this.connection.baseUrl + paths.bidiAppend,
        headers: {
          ...this.connection.headers,
          ...this.headers,
          'content-type': 'application/proto',
          'connect-protocol-version': '1',
          'connect-timeout-ms': String(deadline),
        },
        body,
        signal,
      });
      if (answer.status !== 200) throw await refusal(answer, `message ${seqno}`);
      // A proxy's page with status 200 is no acknowledgement.
      const type = answer.header('content-type') ?? '';
      if (!type.startsWith('application/proto'))
        throw protocolFailure(`message ${seqno} was answered with ${type || 'no content type'}`);
      await readBody(answer.body, limits.unaryAnswerBytes);
    } catch (error) {
      throw abort.signal.aborted ? abort.signal.reason : error;
    } finally {
      stop();
    }
  }
}
