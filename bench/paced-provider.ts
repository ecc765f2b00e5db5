/**
 * A chat-completions provider that holds every request until all are there, then says one delta a write, so many a second, to
 * each; their times are spread evenly. It keeps when it wrote each delta.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'test-model', choices: [{ index: 0, logprobs: null, ...choice }] })}\n\n`;
const DELTA = chunk({ delta: { content: ' token' }, finish_reason: null });
const END = `${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;

/** One answer that is being said. */
interface Answer {
  readonly response: http.ServerResponse;
  /** The stream that the prompt names, as `stream 17`; -1 when it names none. */
  readonly stream: number;
}

export class PacedProvider {
  readonly #server = http.createServer((request, response) => void this.#take(request, response));
  #waiting: Answer[] = [];
  #onCount: { count: number; resolve: () => void } | undefined;

  async listen(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves once that many requests wait for their answers. */
  until(count: number): Promise<void> {
    return new Promise(resolve => {
      this.#onCount = { count, resolve };
      this.#check();
    });
  }

  /**
   * Says deltas to all that wait, for `ms`, then ends them.
   * @param written called with the stream and the time right before each write
   */
  speak(perSecond: number, ms: number, written: (stream: number, at: number) => void): Promise<void> {
    const answers = this.#waiting;
    this.#waiting = [];
    const startedAt = performance.now();
    const each = 1000 / perSecond;
    let said = 0;
    return new Promise(resolve => {
      const timer = setInterval(() => {
        const elapsed = performance.now() - startedAt;
        const due = Math.floor((Math.min(elapsed, ms) / each) * answers.length);
        for (; said < due; said++) {
          const { response, stream } = answers[said % answers.length]!;
          written(stream, performance.now());
          response.write(DELTA);
        }
        if (elapsed < ms) return;
        clearInterval(timer);
        for (const { response } of answers) response.end(END);
        resolve();
      }, 1);
    });
  }

  async #take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const named = /\bstream (\d+)/.exec(Buffer.concat(pieces).toString('utf8'))?.[1];
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.flushHeaders();
    this.#waiting.push({ response, stream: named === undefined ? -1 : Number(named) });
    this.#check();
  }

  #check(): void {
    if (!this.#onCount || this.#waiting.length < this.#onCount.count) return;
    this.#onCount.resolve();
    this.#onCount = undefined;
  }
}
