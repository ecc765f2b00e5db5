import { fault, limits } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import type {
  AgentClientMessage,
  AgentRunRequest,
  AgentServerMessage,
  ExecClientMessage,
} from '@tandem/protocol/agent';
import { endsShellStream } from '../bridge/exec-answer.ts';
import { textMessage } from '../bridge/outbox.ts';
import type { Outbox, TextBranch } from '../bridge/outbox.ts';
import { breathe } from '../breathe.ts';
import type { Clock } from '../clock.ts';
import { takeCredentials } from '../credentials/run-credentials.ts';
import { EARLY_END_MS, DOWNLINK_MAX_BYTES, DOWNLINK_PAUSE_BYTES, HEARTBEAT_AFTER_MS } from '../limits.ts';
import type { Log } from '../observe/log.ts';
import type { Run } from '../run/run.ts';
import type { RequestHeaders } from './request-headers.ts';
import { Downlink } from './downlink.ts';
import type { FrameSink } from './downlink.ts';
import { endFrame, heartbeatFrame, messageFrame } from './frame.ts';
import { Inbox } from './inbox.ts';

/**
 * A stream is `waiting` for its run request (a placeholder, R12), then `running` one run, then `ended`: its last frame is
 * queued, and only reading what is left is possible. There is no way back; a request id used again gets a new stream (R13).
 */
export type StreamState = { tag: 'waiting' } | { tag: 'running'; run: Run } | { tag: 'ended' };

/** The bounds of a stream that a person may set. */
export interface StreamLimits {
  readonly messageBytes: number;
  readonly placeholderMs: number;
  readonly readerGraceMs: number;
}

/** A message with what the request that carried it said in its headers (R9). */
export interface Carried {
  readonly message: AgentClientMessage;
  readonly headers: RequestHeaders;
  /** Called right before it is delivered. */
  readonly due?: () => void;
}

export interface StreamOptions {
  readonly requestId: string;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: StreamLimits;
  /** Makes and starts the run of a run request; called at most once. */
  startRun(request: AgentRunRequest, headers: RequestHeaders, stream: Stream): Run;
  /** The last frame is queued. */
  onEnd(stream: Stream): void;
}

/** Everything that belongs to one request id: appends in order, the run, and the frames on their way down. */
export class Stream implements Outbox {
  readonly requestId: string;
  readonly owner: string;
  readonly downlink: Downlink;
  readonly #options: StreamOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #inbox: Inbox<Carried>;
  /** Appends that are on their way into the ledger; a duplicate waits for the first. */
  readonly #accepting = new Map<number, Promise<void>>();
  /** Ends of commands that wait for what they overtook; released when the stream ends. */
  readonly #early = new Set<() => void>();
  #state: StreamState = { tag: 'waiting' };
  #cancelTimer: (() => void) | undefined;
  #isPolled = false;
  /** The execs of the run that ended with questions open, and the appends that came for them since. */
  #owed: { readonly exec: Run['exec']; readonly taken: Set<number> } | undefined;
  #reader: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(options: StreamOptions) {
    this.requestId = options.requestId;
    this.owner = options.owner;
    this.#options = options;
    this.#clock = options.clock;
    this.#log = options.log;
    this.downlink = new Downlink({ now: () => options.clock.now(), pauseBytes: DOWNLINK_PAUSE_BYTES });
    this.#inbox = new Inbox({
      clock: options.clock,
      gapGraceMs: limits.gapGraceMs,
      maxHeld: limits.heldMessages,
      maxHeldBytes: options.limits.messageBytes * 2,
      deliver: carried => this.#deliver(carried),
      urgent: ({ message }) => isUrgent(message),
      starts: ({ message }) => message.message.case === 'runRequest',
      onGap: missing => {
        if (this.#state.tag !== 'running') return; // the placeholder's own time decides
        this.fail(
          fault(
            'append_gap',
            `Append ${missing} did not arrive within ${limits.gapGraceMs / 1000} s, though later ones did. The run can be resumed from its last checkpoint.`,
          ),
        );
      },
    });
    this.#cancelTimer = options.clock.after(options.limits.placeholderMs, () => this.#expire());
  }

  get state(): StreamState {
    return this.#state;
  }
  /** The run at work, or undefined. */
  get run(): Run | undefined {
    return this.#state.tag === 'running' ? this.#state.run : undefined;
  }
  /** Whether somebody reads it, or polls and may be between two polls. */
  get isRead(): boolean {
    return this.#isPolled || this.downlink.hasReader;
  }
  /** The append number that is waited for. */
  get nextSeqno(): number {
    return this.#inbox.next;
  }

  // ---- upwards

  /**
   * Takes one append. Resolves when it may be acknowledged: for an exec result, once the ledger has it (R7, R48).
   * Whatever the stream is doing, a readable append is acknowledged; what it means for the run shows on the stream.
   */
  async accept(seqno: number, message: AgentClientMessage, headers: RequestHeaders, bytes: number): Promise<void> {
    if (this.#state.tag === 'ended') return this.#acceptLate(seqno, message);
    const earlier = this.#accepting.get(seqno);
    if (earlier) return earlier;
    if (this.#inbox.has(seqno)) return;
    if (message.message.case !== 'execClientMessage') return this.#push(seqno, { message, headers }, bytes);
    const answer = message.message.value;
    const isEarlyEnd =
      seqno > this.#inbox.next && answer.message.case === 'shellStream' && endsShellStream(answer.message.value.event);
    const work = isEarlyEnd
      ? this.#recordWhenDue(due => this.#push(seqno, { message, headers, due }, bytes), answer, seqno)
      : this.run?.exec.record(answer, seqno);
    if (work) {
      this.#accepting.set(seqno, work);
      try {
        await work;
        await breathe(bytes);
      } finally {
        this.#accepting.delete(seqno);
      }
    }
    if (!isEarlyEnd) this.#push(seqno, { message, headers }, bytes);
  }

  /**
   * The end of a command that overtook some of its output. The ledger takes an end for a whole result, so it gets it only when
   * what comes before is there: if that never comes, the command has no result, rather than one that lacks output unseen. No
   * append waits long for its acknowledgement, though (R7): this one is given after a moment even so.
   */
  #recordWhenDue(push: (due: () => void) => void, answer: ExecClientMessage, seqno: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopWaiting = this.#clock.after(EARLY_END_MS, resolve);
      this.#early.add(resolve);
      push(() => {
        stopWaiting();
        this.#early.delete(resolve);
        (this.run?.exec.record(answer, seqno) ?? Promise.resolve()).then(resolve, reject);
      });
      if (this.#inbox.has(seqno)) return;
      stopWaiting();
      resolve(); // it was too much or too far, and will never be due
    });
  }

  #push(seqno: number, message: Carried, bytes: number): void {
    const taken = this.#inbox.push({ seqno, message, bytes });
    if (taken === 'overflow') {
      this.fail(
        fault(
          'append_gap',
          `More than ${limits.heldMessages} appends or ${this.#options.limits.messageBytes * 2} bytes wait behind append ${this.#inbox.next}, which did not arrive. The run can be resumed from its last checkpoint.`,
        ),
      );
    } else if (taken === 'far') {
      this.#log.warn({ seqno, next: this.#inbox.next }, 'an append is numbered far ahead and was dropped');
    }
  }

  /** A result that crossed the end of its run on the way is acknowledged like any other, so the ledger has it like any other (R7, R48). */
  async #acceptLate(seqno: number, { message }: AgentClientMessage): Promise<void> {
    if (!this.#owed || message.case !== 'execClientMessage' || this.#inbox.has(seqno)) return;
    const { exec, taken } = this.#owed;
    if (taken.has(seqno) || taken.size >= limits.heldMessages) return;
    taken.add(seqno);
    await exec.record(message.value, seqno);
  }

  /** The client's direction was closed in order: nothing more will come up (R20). A stream without a run has nothing to wait for. */
  endUplink(): void {
    if (this.#state.tag === 'waiting') this.fail(fault('bad_request', 'The request ended without a run request.'));
  }

  #deliver({ message: { message }, headers, due }: Carried): void {
    due?.();
    switch (message.case) {
      case 'runRequest':
        this.#begin(message.value, headers);
        break;
      case 'execClientMessage':
        this.run?.exec.deliver(message.value);
        break;
      case 'execClientControlMessage':
        this.run?.exec.control(message.value);
        break;
      case 'kvClientMessage':
        this.run?.kv.deliver(message.value);
        break;
      case 'conversationAction':
        this.run?.act(message.value);
        if (this.#state.tag === 'waiting' && message.value.action.case === 'cancelAction') {
          this.fail(fault('canceled', 'Canceled by the client before it began.'));
        }
        break;
      case 'interactionResponse':
        this.#log.warn(
          { id: message.value.id, branch: message.value.result.case },
          'an answer to no open question was ignored',
        );
        break;
      case 'clientHeartbeat':
        this.run?.kv.renew();
        break;
      case 'prewarmRequest':
        takeCredentials(message.value); // nothing is called for it, and what waits here keeps no keys
        this.#log.debug({}, 'a prewarm request was taken: there is nothing to warm before the run itself');
        break;
      case undefined:
        this.#log.warn({}, 'a message of a branch that this version does not know was ignored');
    }
  }

  #begin(request: AgentRunRequest, headers: RequestHeaders): void {
    if (this.#state.tag !== 'waiting') {
      this.#log.warn({}, 'a second run request on one request id was ignored');
      return;
    }
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const run = this.#options.startRun(request, headers, this);
    if (this.#isEnded()) return; // it failed at once
    this.#state = { tag: 'running', run };
    if (!this.downlink.hasReader) this.#startGrace();
  }

  #isEnded(): boolean {
    return this.#state.tag === 'ended';
  }

  #expire(): void {
    this.fail(
      fault(
        'placeholder_expired',
        `No run request arrived for request ${this.requestId} within ${this.#options.limits.placeholderMs / 1000} s. Open RunSSE and append the run request, number 0, under the same request id.`,
      ),
    );
  }

  // ---- downwards

  append(message: AgentServerMessage): void {
    if (this.#state.tag === 'ended') return;
    this.downlink.append(messageFrame(message));
    this.#checkRoom();
  }

  appendText(branch: TextBranch, text: string): void {
    if (this.#state.tag === 'ended') return;
    if (!this.downlink.appendText(branch, text)) this.downlink.append(messageFrame(textMessage(branch, text)));
    this.#checkRoom();
  }

  #checkRoom(): void {
    if (this.downlink.pendingBytes > DOWNLINK_MAX_BYTES) {
      this.fail(
        fault(
          'buffer_overflow',
          `The client did not read for too long: more than ${DOWNLINK_MAX_BYTES} bytes wait for it. The run can be resumed from its last checkpoint.`,
        ),
      );
    }
  }

  ready(): Promise<void> | undefined {
    return this.downlink.ready();
  }

  reader(): Promise<void> | undefined {
    if (this.downlink.hasReader || this.#isPolled || this.#state.tag === 'ended') return undefined;
    if (!this.#reader) {
      let resolve = () => {};
      const promise = new Promise<void>(done => (resolve = done));
      this.#reader = { promise, resolve };
    }
    return this.#reader.promise;
  }

  /**
   * Gives the stream to a reader; the returned function tells that it is gone (R19). A reader that polls counts as being there
   * until the grace after its last poll is over (R66), and is told at once only what there is to tell.
   */
  attach(sink: FrameSink, { polls = false } = {}): () => void {
    const detach = this.downlink.attach(sink);
    this.#isPolled = polls;
    if (!polls) this.downlink.append(heartbeatFrame);
    if (this.#state.tag === 'running') {
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
    }
    this.#reader?.resolve();
    this.#reader = undefined;
    return () => {
      const had = this.downlink.hasReader;
      detach();
      if (had && !this.downlink.hasReader && this.#state.tag === 'running') this.#startGrace();
    };
  }

  #startGrace(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(this.#options.limits.readerGraceMs, () => {
      this.#isPolled = false;
      this.fail(fault('canceled', `Nobody read the stream for ${this.#options.limits.readerGraceMs / 1000} s.`));
    });
  }

  /** A heartbeat when nothing was written for a while; called often by the registry. */
  beat(): void {
    if (this.downlink.isIdle && this.#clock.now() - this.downlink.lastWriteAt >= HEARTBEAT_AFTER_MS) {
      this.downlink.append(heartbeatFrame);
    }
  }

  // ---- the end

  /** Ends the stream with a fault, through its run if it has one. */
  fail(reason: Fault): void {
    const { run } = this;
    if (run) run.cancel(reason);
    this.end(reason);
  }

  /** Queues the one end frame (R53). The first call decides. */
  end(reason: Fault | undefined): void {
    if (this.#state.tag === 'ended') return;
    const exec = this.run?.exec;
    if (exec?.isOwedAnswers) this.#owed = { exec, taken: new Set() };
    this.#state = { tag: 'ended' };
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#inbox.close();
    for (const resolve of this.#early) resolve();
    this.#early.clear();
    this.#reader?.resolve();
    this.#reader = undefined;
    this.downlink.end(endFrame(reason));
    this.#options.onEnd(this);
  }
}

function isUrgent({ message }: AgentClientMessage): boolean {
  if (message.case === 'clientHeartbeat') return true;
  return message.case === 'conversationAction' && message.value.action.case === 'cancelAction';
}
