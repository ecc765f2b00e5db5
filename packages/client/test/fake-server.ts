import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EnvelopeReader, decodeAppend, encodeEndStream, encodeEnvelope } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import type {
  AgentClientMessage,
  AgentRunRequest,
  ConversationStateStructureSchema,
  ExecClientControlMessage,
  ExecClientMessage,
  ExecServerMessageSchema,
  InteractionUpdateSchema,
} from '@tandem/protocol/agent';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

type ServerBranch = NonNullable<MessageInitShape<typeof AgentServerMessageSchema>['message']>;
type ExecQuestion = NonNullable<MessageInitShape<typeof ExecServerMessageSchema>['message']>;
type Update = NonNullable<MessageInitShape<typeof InteractionUpdateSchema>['message']>;

/** Longest wait of a script for something that the client should do. */
const PATIENCE = 10_000;

/** One request_id as the fake server sees it: what came up, in order of number, and everything that can be sent down. */
export class FakeStream {
  readonly requestId: string;
  /** From 0, over all streams of the server. */
  readonly index: number;
  headers: http.IncomingHttpHeaders = {};
  /** In order of append_seqno. */
  readonly messages: AgentClientMessage['message'][] = [];
  /** As they arrived. */
  readonly numbers: bigint[] = [];
  closed = false;
  readonly opened: Promise<void>;
  private readonly held = new Map<bigint, AgentClientMessage['message']>();
  private readonly wakes = new Set<() => void>();
  private response: http.ServerResponse | undefined;
  private markOpened: () => void = () => undefined;
  private nextExec = 1;

  constructor(requestId: string, index: number) {
    this.requestId = requestId;
    this.index = index;
    this.opened = new Promise(resolve => (this.markOpened = resolve));
  }

  open(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.headers = request.headers;
    this.response = response;
    response.on('close', () => {
      this.closed = true;
      this.wake();
    });
    this.markOpened();
  }

  take(number: bigint, message: AgentClientMessage['message']): void {
    this.numbers.push(number);
    this.held.set(number, message);
    for (let next = this.held.get(BigInt(this.messages.length)); next !== undefined;) {
      this.messages.push(next);
      next = this.held.get(BigInt(this.messages.length));
    }
    this.wake();
  }

  /** Waits until `find` gives something for the messages so far. */
  async until<T>(what: string, find: (messages: AgentClientMessage['message'][]) => T | undefined | false): Promise<T> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const found = find(this.messages);
      if (found !== undefined && found !== false) return found;
      if (Date.now() > end) throw new Error(`the client never sent ${what}`);
      await new Promise<void>(resolve => {
        const wake = () => {
          clearTimeout(timer);
          this.wakes.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, 250);
        this.wakes.add(wake);
      });
    }
  }

  async runRequest(): Promise<AgentRunRequest> {
    return await this.until('a run request', all => {
      const first = all.find(message => message.case === 'runRequest');
      return first?.case === 'runRequest' ? first.value : undefined;
    });
  }

  /** Waits for the client to close the stream. */
  async gone(): Promise<void> {
    await this.until('the end of the stream', () => this.closed);
  }

  send(message: ServerBranch): void {
    this.write(encodeEnvelope(toBinary(AgentServerMessageSchema, create(AgentServerMessageSchema, { message }))));
  }

  /** Raw bytes, for frames that no honest server sends. */
  write(bytes: Uint8Array): void {
    this.response?.write(bytes);
  }

  update(message: Update): void {
    this.send({ case: 'interactionUpdate', value: { message } });
  }

  text(text: string): void {
    this.update({ case: 'textDelta', value: { text } });
  }

  checkpoint(state: MessageInitShape<typeof ConversationStateStructureSchema> = { readPaths: ['/seen'] }): void {
    this.send({ case: 'conversationCheckpointUpdate', value: state });
  }

  turnEnded(usage: { inputTokens?: bigint; outputTokens?: bigint } = {}): void {
    this.update({ case: 'turnEnded', value: usage });
  }

  end(failure?: Fault): void {
    this.response?.end(encodeEnvelope(encodeEndStream(failure), 2));
  }

  /** Text, checkpoint, turn_ended, EndStream. */
  finish(text = 'done'): void {
    if (text !== '') this.text(text);
    this.checkpoint();
    this.turnEnded();
    this.end();
  }

  /** Ends the body without an end frame. */
  cut(): void {
    this.response?.end();
  }

  ask(message: ExecQuestion, id = this.nextExec++): number {
    this.send({ case: 'execServerMessage', value: { id, execId: `exec-${id}`, message } });
    return id;
  }

  /** What the client said about one exec so far. */
  heard(id: number): { answers: ExecClientMessage['message'][]; control: ExecClientControlMessage['message'][] } {
    const answers: ExecClientMessage['message'][] = [];
    const control: ExecClientControlMessage['message'][] = [];
    for (const message of this.messages) {
      if (message.case === 'execClientMessage' && message.value.id === id) answers.push(message.value.message);
      if (message.case === 'execClientControlMessage' && message.value.message.value?.id === id)
        control.push(message.value.message);
    }
    return { answers, control };
  }

  /** Waits until the exec's stream is closed, and gives what came. */
  async settled(id: number): Promise<ReturnType<FakeStream['heard']>> {
    return await this.until(`stream_close for exec ${id}`, () => {
      const heard = this.heard(id);
      return heard.control.some(one => one.case === 'streamClose') ? heard : undefined;
    });
  }

  private wake(): void {
    for (const wake of this.wakes) wake();
  }
}

/** What a test may do with a request before the server does: true means that it was answered. */
export type Intercept = (request: http.IncomingMessage, response: http.ServerResponse, body: Buffer) => boolean;

/** A server of RunSSE and BidiAppend over real HTTP that plays `script` for each stream. Errors of a script reach `close`. */
export class FakeServer {
  readonly streams: FakeStream[] = [];
  readonly url: string;
  private readonly server: http.Server;
  private readonly scripts: Promise<void>[] = [];

  static async start(
    script: (stream: FakeStream) => void | Promise<void>,
    options: { intercept?: Intercept; headers?: http.OutgoingHttpHeaders } = {},
  ): Promise<FakeServer> {
    const server = http.createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new FakeServer(server, script, options);
  }

  private constructor(
    server: http.Server,
    script: (stream: FakeStream) => void | Promise<void>,
    options: { intercept?: Intercept; headers?: http.OutgoingHttpHeaders },
  ) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        if (options.intercept?.(request, response, body) === true) return;
        if (request.url?.endsWith('/BidiAppend') === true) return this.append(body, response);
        if (request.url?.endsWith('/RunSSE') !== true) return void response.writeHead(404).end();
        const [envelope] = new EnvelopeReader({ maxBytes: 1024 }).push(body);
        const { requestId } = fromBinary(BidiRequestIdSchema, envelope!.payload);
        const stream = this.stream(requestId);
        response.writeHead(200, { 'content-type': 'application/connect+proto', ...options.headers });
        response.flushHeaders();
        stream.open(request, response);
        const played = Promise.resolve(script(stream));
        // Kept for close(); without this a failing script would count as unhandled before that.
        played.catch(() => undefined);
        this.scripts.push(played);
      });
    });
  }

  /** Stops the server; rejects when a script failed. */
  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
    await Promise.all(this.scripts);
  }

  private append(body: Buffer, response: http.ServerResponse): void {
    const { requestId, seqno, message } = decodeAppend(body, { maxBytes: 64 * 1024 * 1024 });
    this.stream(requestId).take(seqno, message.message);
    response.writeHead(200, { 'content-type': 'application/proto' }).end();
  }

  private stream(requestId: string): FakeStream {
    let stream = this.streams.find(one => one.requestId === requestId);
    if (stream === undefined) this.streams.push((stream = new FakeStream(requestId, this.streams.length)));
    return stream;
  }
}
