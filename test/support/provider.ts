import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, AnswerEvent } from './provider-answer.ts';
import { encodeEvent, eventsOf, readAnswers } from './provider-answer.ts';

export type { Answer, AnswerEvent } from './provider-answer.ts';

/** A chat-completions request body as far as tests look at it. */
export interface ChatBody {
  model: string;
  messages: {
    role: string;
    content: unknown;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    [key: string]: unknown;
  }[];
  tools?: { function: { name: string; description?: string; parameters?: unknown } }[];
  [key: string]: unknown;
}

/** One request that reached the provider. */
export interface RecordedRequest {
  readonly number: number;
  readonly body: ChatBody;
  /** The body as its bytes were. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  /** Settles when the connection of the answer is done: `early` when the caller left before the answer was whole. */
  readonly closed: Promise<{ early: boolean }>;
}

export interface ProviderOptions {
  /** Answers in order, the name of a file in `test/answers`, or a function from the request to its answer. */
  answers: string | Answer[] | ((request: RecordedRequest) => Answer | Promise<Answer>);
  /** What `GET /models` lists. */
  models?: string[];
}

/** A real HTTP server that speaks OpenAI chat completions and says what it was told to say. */
export interface Provider {
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Resolves once that many requests have come. */
  untilRequests(count: number): Promise<void>;
  /** Resolves once an answer waits at this gate. */
  untilWaiting(gate: string): Promise<void>;
  /** Lets the answers that wait at this gate, and those that come to it later, go on. */
  open(gate: string): void;
  close(): Promise<void>;
}

export async function startProvider(options: ProviderOptions): Promise<Provider> {
  const requests: RecordedRequest[] = [];
  const chooseAnswer = answerChooser(options.answers);
  const gates = new Map<string, { reached: PromiseWithResolvers<void>; opened: PromiseWithResolvers<void> }>();
  const gateOf = (name: string) => {
    const gate = gates.get(name) ?? { reached: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() };
    gates.set(name, gate);
    return gate;
  };
  const waiters: { count: number; resolve: () => void }[] = [];

  const answerRequest = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (incoming.method === 'GET') {
      const data = (options.models ?? ['test-model']).map(id => ({ id, object: 'model' }));
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    const closed = new Promise<{ early: boolean }>(resolve => {
      outgoing.once('close', () => resolve({ early: !outgoing.writableFinished }));
    });
    const request: RecordedRequest = {
      number: requests.length,
      body: JSON.parse(text) as ChatBody,
      text,
      headers: incoming.headers,
      closed,
    };
    requests.push(request);
    for (const waiter of waiters) if (requests.length >= waiter.count) waiter.resolve();
    const answer = await chooseAnswer(request);
    if (answer.silent === 'before-headers') return;
    if (answer.silent === 'at-once') {
      outgoing.socket?.destroy();
      return;
    }
    if (answer.status) {
      const { code, message, body, headers } = answer.status;
      const error = body ?? { error: { message: message ?? `scripted failure ${code}`, type: 'scripted' } };
      outgoing.writeHead(code, { 'content-type': 'application/json', ...headers });
      outgoing.end(typeof error === 'string' ? error : JSON.stringify(error));
      return;
    }
    await sendEvents(eventsOf(answer, request.number), request, outgoing);
  };

  const sendEvents = async (events: AnswerEvent[], request: RecordedRequest, outgoing: ServerResponse) => {
    const head = () => {
      if (!outgoing.headersSent)
        outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    };
    for (const event of events) {
      if (outgoing.destroyed) return;
      if ('gate' in event) {
        const gate = gateOf(event.gate);
        gate.reached.resolve();
        await Promise.race([gate.opened.promise, request.closed]);
      } else if ('hang' in event) {
        head();
        outgoing.flushHeaders();
        return;
      } else if ('reset' in event) {
        outgoing.socket?.destroy();
        return;
      } else {
        head();
        const bytes = encodeEvent(event, request.body.model) ?? '';
        // Written through before the next event, so that a reset after it loses nothing on this side.
        await new Promise<void>(resolve => outgoing.write(bytes, () => resolve()));
      }
    }
    head();
    outgoing.end();
  };

  const server = createServer((incoming, outgoing) => {
    answerRequest(incoming, outgoing).catch((error: unknown) => {
      // A mistake in a test's script: the caller sees it as a refusal, which is not tried again.
      if (!outgoing.headersSent) outgoing.writeHead(400, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { message: `the fake provider failed: ${String(error)}` } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    untilRequests(count) {
      if (requests.length >= count) return Promise.resolve();
      return new Promise(resolve => waiters.push({ count, resolve }));
    },
    untilWaiting: gate => gateOf(gate).reached.promise,
    open: gate => gateOf(gate).opened.resolve(),
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** The text of a message's content, whichever form it has. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { text?: string }[]).map(part => part.text ?? '').join('');
}

function answerChooser(answers: ProviderOptions['answers']): (request: RecordedRequest) => Answer | Promise<Answer> {
  if (typeof answers === 'function') return answers;
  const list = typeof answers === 'string' ? readAnswers(answers) : answers;
  const left = [...list];
  const markers = new Set(list.map(answer => answer.when).filter(when => when !== undefined));
  return request => {
    const users = request.body.messages
      .filter(message => message.role === 'user')
      .map(message => textOfContent(message.content));
    const newest = users.findLast(text => [...markers].some(marker => text.includes(marker))) ?? '';
    const at = left.findIndex(answer => answer.when === undefined || newest.includes(answer.when));
    if (at < 0) throw new Error(`no answer is left for request ${request.number}`);
    return left.splice(at, 1)[0] as Answer;
  };
}
