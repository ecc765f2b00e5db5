import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EnvelopeReader, blobKey, decodeEndStream, encodeAppend, encodeEnvelope } from '@tandem/protocol';
import type { AppendForm, Fault } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import type {
  AgentServerMessage,
  ConversationStateStructure,
  ExecClientMessageSchema,
  ExecServerMessage,
  InteractionUpdate,
  KvServerMessage,
} from '@tandem/protocol/agent';
import { BidiPollRequestSchema, BidiPollResponseSchema, BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { createHash, randomUUID } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { APPEND, RUN, RUN_POLL, RUN_SSE, fetchWhole, openCall, streamHeaders, unaryHeaders } from './wire.ts';
import type { Answered, Call, Transport } from './wire.ts';
import { Workspace } from './workspace.ts';

/** How long anything here waits before it says that it hangs: ten times what any of it takes. Real time, a guard only. */
const HANG_MS = 30_000;

export type ClientMessage = MessageInitShape<typeof AgentClientMessageSchema>['message'];
/** More fields of a message, in the form that `create` takes; checked by `create` when they are used. */
export type Fields = Record<string, unknown>;
export type UpdateCase = NonNullable<InteractionUpdate['message']['case']>;
export type ExecCase = NonNullable<ExecServerMessage['message']['case']>;

/** One frame that came down. */
export interface Frame {
  /** Where it stands among all frames of the peer, uplink messages included. */
  readonly index: number;
  readonly flags: number;
  readonly bytes: number;
  readonly compressed: boolean;
  /** `update.textDelta`, `exec.readArgs`, `kv.setBlobArgs`, `checkpoint`, `control.abort`, `query.…`, `end`. */
  readonly key: string;
  readonly message?: AgentServerMessage;
  /** Of an end frame: the fault it carries, or undefined for `{}`. */
  readonly fault?: Fault | undefined;
  readonly connection: number;
}

/** An exec that the server asked for, in the hands of a test. */
export interface AskedExec {
  readonly id: number;
  readonly execId: string;
  readonly kind: ExecCase;
  readonly args: any;
  /** Sends a result branch: `reply({ case: 'readResult', value: { … } })`. */
  reply(message: MessageInitShape<typeof ExecClientMessageSchema>['message'], options?: SendOptions): Promise<Answered>;
  close(options?: SendOptions): Promise<Answered>;
  throw(error: string): Promise<Answered>;
  beat(): Promise<Answered>;
  /** What an honest client answers. */
  auto(): Promise<void>;
}

export interface AskedBlob {
  readonly id: number;
  readonly kind: 'getBlobArgs' | 'setBlobArgs';
  readonly blobId: Uint8Array;
  readonly data: Uint8Array;
  reply(
    message: MessageInitShape<typeof AgentClientMessageSchema>['message'] & { case: 'kvClientMessage' },
  ): Promise<Answered>;
  auto(): Promise<Answered>;
}

export interface SendOptions {
  readonly seqno?: number | bigint;
  readonly form?: AppendForm;
  readonly headers?: Record<string, string>;
}

export interface PeerOptions {
  readonly url: string;
  readonly transport?: Transport;
  /** How the stream is read, and messages go up: RunSSE with BidiAppend, both directions on Run, or RunPoll with BidiAppend. */
  readonly way?: Way;
  readonly requestId?: string;
  readonly conversationId?: string;
  readonly runId?: string;
  readonly model?: string;
  readonly workspace?: Workspace;
  /** Blobs by hex id, as a client keeps them between turns. */
  readonly blobs?: Map<string, Uint8Array>;
  readonly headers?: Record<string, string>;
  /** Codecs for `connect-accept-encoding`. */
  readonly accept?: string;
  readonly firstSeqno?: number;
  /** Replaces the honest answer to an exec of that kind; doing nothing is silence. */
  readonly on?: Partial<Record<ExecCase, (exec: AskedExec) => unknown>>;
  readonly onBlob?: (blob: AskedBlob) => unknown;
}

export type Way = 'sse' | 'run' | 'poll';

/** A scripted client of the protocol: it records every frame and answers honestly unless a test tells it otherwise. */
export class Peer {
  readonly url: string;
  readonly transport: Transport;
  readonly way: Way;
  readonly requestId: string;
  readonly conversationId: string;
  readonly runId: string;
  readonly model: string;
  readonly workspace: Workspace;
  readonly blobs: Map<string, Uint8Array>;
  readonly frames: Frame[] = [];
  /** What went wrong on the wire besides what the test looks for: bad hashes, unreadable frames, refused appends. */
  readonly faults: string[] = [];
  /** Hex ids the client was given and had acknowledged, with the frame count at that moment. */
  readonly acknowledged = new Map<string, number>();
  readonly sent: { seqno: number; message: ClientMessage }[] = [];
  readonly calls: Call[] = [];
  on: NonNullable<PeerOptions['on']>;
  onBlob: PeerOptions['onBlob'];
  seqno: number;
  /** Messages of polls that came compressed. */
  packedPolls = 0;
  readonly #options: PeerOptions;
  readonly #waiters = new Set<() => void>();
  #cut = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.url = options.url;
    this.transport = options.transport ?? 'h1';
    this.way = options.way ?? 'sse';
    this.requestId = options.requestId ?? randomUUID();
    this.conversationId = options.conversationId ?? randomUUID();
    this.runId = options.runId ?? randomUUID();
    this.model = options.model ?? 'test-model';
    this.workspace = options.workspace ?? new Workspace();
    this.blobs = options.blobs ?? new Map();
    this.on = options.on ?? {};
    this.onBlob = options.onBlob;
    this.seqno = options.firstSeqno ?? 0;
  }

  /** What the same client sends next in this conversation: a new request that knows the blobs and the last checkpoint. */
  next(options: Partial<PeerOptions> = {}): Peer {
    const { url, transport, way, conversationId, workspace, blobs, model } = this;
    return new Peer({ url, transport, way, conversationId, workspace, blobs, model, ...options });
  }

  // ---- down

  /** Opens RunSSE (again); resolves with its head. */
  async open(): Promise<{ status: number; headers: Record<string, unknown> }> {
    if (this.way === 'poll') return this.#openPolls();
    const reader = new EnvelopeReader({ maxBytes: 512 * 1024 * 1024 });
    const connection = this.calls.length;
    this.#cut = false;
    const call = openCall({
      url: this.url,
      path: this.way === 'run' ? RUN : RUN_SSE,
      transport: this.transport,
      headers: this.#headers(),
      onData: chunk => {
        try {
          for (const envelope of reader.push(chunk))
            this.#frame(Uint8Array.from(envelope.payload), envelope.flags, connection);
        } catch (error) {
          this.faults.push(`unreadable stream: ${(error as Error).message}`);
        }
        this.#wake();
      },
    });
    this.calls.push(call);
    void call.closed.then(() => {
      if (this.calls.at(-1) === call) this.#cut = true;
      this.#wake();
    });
    if (this.way === 'sse')
      call.end(
        encodeEnvelope(toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId: this.requestId }))),
      );
    return call.head;
  }

  /** Drops the stream without a word, as a cancelling client does. */
  drop(): void {
    this.calls.at(-1)?.destroy();
  }

  /** Polls until the last message or a fault came; resolves with the head of the first poll. */
  async #openPolls(): Promise<{ status: number; headers: Record<string, unknown> }> {
    const connection = this.calls.length;
    this.#cut = false;
    const body = encodeEnvelope(
      toBinary(BidiPollRequestSchema, create(BidiPollRequestSchema, { requestId: { requestId: this.requestId } })),
    );
    const poll = () =>
      openCall({
        url: this.url,
        path: RUN_POLL,
        transport: this.transport,
        headers: this.#headers(),
        onData: chunk => pieces.push(chunk),
      });
    let pieces: Buffer[] = [];
    const first = poll();
    this.calls.push(first);
    const go = async (call: Call): Promise<void> => {
      call.end(body);
      await call.closed;
      let isLast = false;
      for (const { payload, endStream, compressed } of new EnvelopeReader({ maxBytes: 512 * 1024 * 1024 }).push(
        Buffer.concat(pieces),
      )) {
        if (!endStream) {
          const message = compressed ? this.#decompress(payload) : payload;
          const { data, eof = false } = fromBinary(BidiPollResponseSchema, message);
          isLast ||= eof;
          if (compressed) this.packedPolls++;
          if (data !== '') this.#frame(Uint8Array.from(Buffer.from(data, 'hex')), 0, connection);
        } else if (isLast || decodeEndStream(payload).fault) {
          this.#frame(Uint8Array.from(payload), 2, connection);
          isLast = true;
        }
        this.#wake();
      }
      if (isLast || this.calls.at(-1) !== call) return;
      pieces = [];
      const next = poll();
      this.calls[connection] = next;
      await go(next);
    };
    void go(first);
    return first.head;
  }

  #headers(): Record<string, string> {
    const { accept, headers } = this.#options;
    return streamHeaders({
      'x-request-id': this.requestId,
      ...(accept ? { 'connect-accept-encoding': accept } : {}),
      ...headers,
    });
  }

  #decompress(payload: Uint8Array): Uint8Array {
    return this.#options.accept === 'br' ? brotliDecompressSync(payload) : gunzipSync(payload);
  }

  /** Takes a message that came another way than this peer's own stream, e.g. in a poll, and answers it. */
  receive(message: AgentServerMessage): void {
    this.frames.push({
      index: this.frames.length,
      flags: 0,
      bytes: 0,
      compressed: false,
      connection: -1,
      key: keyOf(message),
      message,
    });
    this.#answer(message);
    this.#wake();
  }

  #frame(payload: Uint8Array, flags: number, connection: number): void {
    const compressed = (flags & 1) !== 0;
    const plain = compressed ? this.#decompress(payload) : payload;
    const base = { index: this.frames.length, flags, bytes: payload.length, compressed, connection };
    if (this.end && this.end.connection === connection) this.faults.push('a frame after the end frame');
    if ((flags & 2) !== 0) {
      this.frames.push({ ...base, key: 'end', fault: decodeEndStream(plain).fault });
      return;
    }
    const message = fromBinary(AgentServerMessageSchema, plain);
    this.frames.push({ ...base, key: keyOf(message), message });
    this.#answer(message);
  }

  #answer({ message }: AgentServerMessage): void {
    const settle = (work: unknown, what: string) =>
      void Promise.resolve(work).catch((error: unknown) =>
        this.faults.push(`answering ${what}: ${(error as Error).message}`),
      );
    if (message.case === 'execServerMessage') {
      const exec = this.#askedExec(message.value);
      const own = this.on[exec.kind];
      settle(own ? own(exec) : exec.auto(), exec.kind);
    } else if (message.case === 'kvServerMessage') {
      const blob = this.#askedBlob(message.value);
      settle(this.onBlob ? this.onBlob(blob) : blob.auto(), blob.kind);
    }
  }

  #askedExec(asked: ExecServerMessage): AskedExec {
    const { id, execId } = asked;
    const kind = asked.message.case!;
    const args = asked.message.value;
    const control = (message: MessageInitShape<typeof AgentClientMessageSchema>['message']) => this.send(message);
    const reply: AskedExec['reply'] = (message, options) =>
      this.send({ case: 'execClientMessage', value: { id, message } }, options);
    const close: AskedExec['close'] = options =>
      this.send(
        { case: 'execClientControlMessage', value: { message: { case: 'streamClose', value: { id } } } },
        options,
      );
    return {
      id,
      execId,
      kind,
      args,
      reply,
      close,
      throw: error =>
        control({ case: 'execClientControlMessage', value: { message: { case: 'throw', value: { id, error } } } }),
      beat: () =>
        control({ case: 'execClientControlMessage', value: { message: { case: 'heartbeat', value: { id } } } }),
      auto: async () => {
        for (const answer of this.workspace.answer(kind, args)) await reply(answer);
        await close();
      },
    };
  }

  #askedBlob(asked: KvServerMessage): AskedBlob {
    const { id } = asked;
    const kind = asked.message.case!;
    const blobId = Uint8Array.from(asked.message.value!.blobId);
    const data =
      asked.message.case === 'setBlobArgs' ? Uint8Array.from(asked.message.value.blobData) : new Uint8Array(0);
    const key = blobKey(blobId);
    if (kind === 'setBlobArgs' && createHash('sha256').update(data).digest('hex') !== key)
      this.faults.push(`set_blob ${key} is not the hash of its data`);
    return {
      id,
      kind,
      blobId,
      data,
      reply: message => this.send(message),
      auto: () => {
        if (kind === 'setBlobArgs') {
          this.blobs.set(key, data);
          this.acknowledged.set(key, this.frames.length);
          return this.send({ case: 'kvClientMessage', value: { id, message: { case: 'setBlobResult', value: {} } } });
        }
        const blobData = this.blobs.get(key);
        return this.send({
          case: 'kvClientMessage',
          value: { id, message: { case: 'getBlobResult', value: blobData ? { blobData } : {} } },
        });
      },
    };
  }

  // ---- up

  /** Appends one message; resolves with the answer of the HTTP call. */
  async send(message: ClientMessage, options: SendOptions = {}): Promise<Answered> {
    const seqno = options.seqno ?? this.seqno++;
    this.sent.push({ seqno: Number(seqno), message });
    const bytes = toBinary(AgentClientMessageSchema, create(AgentClientMessageSchema, { message }));
    if (this.way === 'run') {
      this.calls.at(-1)!.write(encodeEnvelope(bytes));
      return { status: 200, headers: {}, body: Buffer.alloc(0) };
    }
    const answered = await fetchWhole({
      url: this.url,
      path: APPEND,
      transport: this.transport,
      headers: unaryHeaders({ 'x-request-id': this.requestId, ...this.#options.headers, ...options.headers }),
      body: encodeAppend({ requestId: this.requestId, seqno, bytes, ...(options.form ? { form: options.form } : {}) }),
    });
    if (answered.status !== 200)
      this.faults.push(
        `append ${seqno} (${message?.case}) answered ${answered.status} ${answered.body.toString('latin1', 0, 200)}`,
      );
    return answered;
  }

  /** The message that starts a run with a user's text. */
  runRequest(text: string, extra: Fields = {}, message: Fields = {}): ClientMessage {
    return {
      case: 'runRequest',
      value: {
        conversationState: {},
        action: { action: { case: 'userMessageAction', value: { userMessage: { text, ...message } } } },
        conversationId: this.conversationId,
        runId: this.runId,
        requestedModel: { modelId: this.model },
        ...extra,
      },
    } as ClientMessage;
  }

  run(text: string, extra?: Fields, message?: Fields): Promise<Answered> {
    return this.send(this.runRequest(text, extra, message));
  }

  resume(state: ConversationStateStructure, extra: Fields = {}): Promise<Answered> {
    return this.run('', {
      conversationState: state,
      action: { action: { case: 'resumeAction', value: {} } },
      ...extra,
    });
  }

  cancel(): Promise<Answered> {
    return this.send({
      case: 'conversationAction',
      value: { action: { case: 'cancelAction', value: { reason: 'test' } } },
    });
  }

  heartbeat(options?: SendOptions): Promise<Answered> {
    return this.send({ case: 'clientHeartbeat', value: {} }, options);
  }

  /** Opens, runs one turn with a text and waits for its end. */
  async turn(text: string, extra?: Fields, message?: Fields): Promise<this> {
    await this.open();
    await this.run(text, extra, message);
    return this.finish();
  }

  // ---- waiting

  /** The first frame that fits, from now on or before. */
  async wait(fits: string | ((frame: Frame) => boolean), from = 0): Promise<Frame> {
    const test = typeof fits === 'string' ? (frame: Frame) => frame.key === fits : fits;
    return this.until(() => {
      const found = this.frames.slice(from).find(test);
      if (!found && (this.end || this.#cut))
        throw new Error(`the stream ended before ${String(fits)}: ${this.describe()}`);
      return found;
    }, String(fits));
  }

  /** Waits until `look` gives something; looks after every frame. */
  until<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        let found: T | undefined;
        try {
          found = look();
        } catch (error) {
          settle(() => reject(error as Error));
          return;
        }
        if (found !== undefined) settle(() => resolve(found));
      };
      const guard = setTimeout(() => settle(() => reject(new Error(`hangs: no ${what}; ${this.describe()}`))), HANG_MS);
      const settle = (call: () => void) => {
        clearTimeout(guard);
        this.#waiters.delete(check);
        call();
      };
      this.#waiters.add(check);
      check();
    });
  }

  /** Waits for the end of the present connection's body. Fails when it ended without an end frame. */
  async finish(): Promise<this> {
    await this.until(
      () => (this.end && this.end.connection === this.calls.length - 1) || this.#cut || undefined,
      'end of the stream',
    );
    await this.calls.at(-1)!.closed;
    if (!this.end) throw new Error(`the body ended without an end frame: ${this.describe()}`);
    return this;
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  // ---- what was seen

  /** The end frame, or undefined. */
  get end(): Frame | undefined {
    return this.frames.findLast(frame => frame.key === 'end');
  }
  get fault(): Fault | undefined {
    return this.end?.fault;
  }
  /** Keys in order, heartbeats left out. */
  get order(): string[] {
    return this.frames.map(frame => frame.key).filter(key => key !== 'update.heartbeat');
  }
  all(key: string): Frame[] {
    return this.frames.filter(frame => frame.key === key);
  }
  /** The values of all updates of one branch. */
  updates<K extends UpdateCase>(name: K): Extract<InteractionUpdate['message'], { case: K }>['value'][] {
    return this.all(`update.${name}`).map(
      frame => (frame.message!.message.value as InteractionUpdate).message.value as never,
    );
  }
  /** The text that was shown, notices left out. */
  get text(): string {
    return this.updates('textDelta')
      .map(delta => (delta.isServerNotice ? '' : delta.text))
      .join('');
  }
  get execs(): ExecServerMessage[] {
    return this.frames.flatMap(({ message }) =>
      message?.message.case === 'execServerMessage' ? [message.message.value] : [],
    );
  }
  get checkpoints(): { index: number; state: ConversationStateStructure }[] {
    return this.frames.flatMap(({ index, message }) =>
      message?.message.case === 'conversationCheckpointUpdate' ? [{ index, state: message.message.value }] : [],
    );
  }
  /** The last checkpoint. */
  get state(): ConversationStateStructure {
    const last = this.checkpoints.at(-1);
    if (!last) throw new Error(`no checkpoint came: ${this.describe()}`);
    return last.state;
  }
  describe(): string {
    const how = this.end
      ? `end frame ${this.end.fault ? `${this.end.fault.code}: ${this.end.fault.detail}` : '{}'}`
      : this.#cut
        ? 'cut'
        : 'open';
    return `${how}; frames: ${this.frames
      .slice(-12)
      .map(frame => frame.key)
      .join(' ')}${this.faults.length > 0 ? `; faults: ${this.faults.join(' | ')}` : ''}`;
  }
}

function keyOf({ message }: AgentServerMessage): string {
  switch (message.case) {
    case 'interactionUpdate':
      return `update.${message.value.message.case ?? 'unset'}`;
    case 'execServerMessage':
      return `exec.${message.value.message.case ?? 'unset'}`;
    case 'kvServerMessage':
      return `kv.${message.value.message.case ?? 'unset'}`;
    case 'interactionQuery':
      return `query.${message.value.query.case ?? 'unset'}`;
    case 'execServerControlMessage':
      return `control.${message.value.message.case ?? 'unset'}`;
    case 'conversationCheckpointUpdate':
      return 'checkpoint';
    case undefined:
      return 'empty';
  }
}
