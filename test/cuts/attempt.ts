import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EnvelopeReader, decodeEndStream } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { AgentServerMessage } from '@tandem/protocol/agent';
import type { FrameSink } from '../../packages/server/src/stream/downlink.ts';
import { splitFrames } from '../../packages/server/src/stream/frame-bytes.ts';
import type { ServerProcess } from './server-process.ts';
import { StreamWatch } from './stream-watch.ts';

export type ClientMessage = MessageInitShape<typeof AgentClientMessageSchema>['message'];

/** What the client did for one question of a tool, in one or several messages. */
export interface ExecAnswer {
  /** The question: its call, kind and arguments, the same in every attempt. */
  readonly key: string;
  readonly callId: string;
  /** How often the client has run it. */
  readonly run: number;
  readonly parts: number;
  /** Numbers of the parts that the server acknowledged, and of those that it wrote. */
  readonly acknowledged: Set<number>;
  readonly written: Set<number>;
}

/** One append: its number and bytes, and what its acknowledgement means to the client. */
export interface Up {
  readonly seqno: number;
  readonly bytes: Uint8Array;
  /** The answer to a question that this is a part of. */
  readonly answer?: ExecAnswer;
  /** The blob that this acknowledges. */
  readonly blob?: string;
}

/** Frames that came in one write; `written` tells the server that they left it. */
export interface Batch {
  readonly frames: readonly Uint8Array[];
  written(): void;
}

/** What one frame says: a message, or the end with the fault it carries. */
export type Down = { readonly message: AgentServerMessage } | { readonly end: ReturnType<typeof decodeEndStream> };

/**
 * - `ended`: the turn is over, as it should be. `failed`: the server ended the stream otherwise. `given-up`: the client goes away.
 */
export type Outcome = 'ended' | 'failed' | 'given-up';

/** One attempt of the client at a turn: one request id, its appends, its reader, what came down. */
export class Attempt {
  readonly requestId: string;
  readonly server: ServerProcess;
  readonly watch = new StreamWatch();
  readonly queue: Up[] = [];
  readonly sent: Up[] = [];
  readonly batches: Batch[] = [];
  outcome: Outcome | undefined;
  /** Keys of the execs that were asked on this stream. */
  readonly asked = new Set<string>();
  #seqno = 0;
  #detach: (() => void) | undefined;
  #reader = new EnvelopeReader({ maxBytes: 512 * 1024 * 1024 });
  readonly #owner: string;
  readonly #wrapSink: (sink: FrameSink) => FrameSink;
  readonly #onActivity: () => void;

  constructor(options: {
    requestId: string;
    owner: string;
    server: ServerProcess;
    wrapSink(sink: FrameSink): FrameSink;
    onActivity(): void;
  }) {
    this.requestId = options.requestId;
    this.server = options.server;
    this.#owner = options.owner;
    this.#wrapSink = options.wrapSink;
    this.#onActivity = options.onActivity;
  }

  get isConnected(): boolean {
    return this.#detach !== undefined;
  }

  /** Opens the reader's side, again after a `disconnect`. */
  connect(): void {
    this.#reader = new EnvelopeReader({ maxBytes: 512 * 1024 * 1024 });
    let isOpen = true;
    const sink: FrameSink = {
      write: (frames, written) => {
        this.#onActivity();
        if (!this.server.isAlive) return true;
        // nobody is there any more, and the network has not told the server: it writes into the void
        if (this.outcome === 'given-up') written();
        else if (isOpen) this.batches.push({ frames: splitFrames(frames), written });
        return true;
      },
      end() {},
      drop() {},
      onDrain() {},
    };
    const detach = this.server.registry.openForReader(this.#owner, this.requestId).attach(this.#wrapSink(sink));
    this.#detach = () => {
      isOpen = false;
      detach();
    };
  }

  /** The reader's connection breaks, and the server notices. */
  disconnect(): void {
    const detach = this.#detach;
    this.#detach = undefined;
    if (this.server.isAlive) detach?.();
  }

  /** The client leaves this attempt; what was on its way to it is lost. */
  giveUp({ noticed }: { noticed: boolean }): void {
    if (this.outcome) return;
    this.outcome = 'given-up';
    this.batches.length = 0;
    if (noticed) this.disconnect();
  }

  /** Numbers a message and puts it in line. */
  enqueue(message: ClientMessage, meaning: Pick<Up, 'answer' | 'blob'> = {}): void {
    this.queue.push(this.number(message, meaning));
  }

  /** Numbers a message that goes past the line, as a heartbeat does. */
  number(message: ClientMessage, meaning: Pick<Up, 'answer' | 'blob'> = {}): Up {
    return {
      seqno: this.#seqno++,
      bytes: toBinary(AgentClientMessageSchema, create(AgentClientMessageSchema, { message })),
      ...meaning,
    };
  }

  /** Reads one frame; a write of the server always holds whole ones. */
  read(frame: Uint8Array): Down {
    const [envelope, ...more] = this.#reader.push(frame);
    if (!envelope || more.length > 0) throw new Error('a frame of the downlink is not one whole envelope');
    if (envelope.endStream) return { end: decodeEndStream(envelope.payload) };
    return { message: fromBinary(AgentServerMessageSchema, envelope.payload) };
  }
}
