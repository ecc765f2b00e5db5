import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, AnswerEvent } from './provider-answer.ts';
import { ANSWERS } from './provider-answer.ts';

/** Stands between a client and a real provider and writes down what the provider answers. */
export interface Recorder {
  readonly baseUrl: string;
  readonly answers: readonly Answer[];
  /** Writes `test/answers/NAME.json` and stops. */
  save(name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a recorder in front of a chat-completions endpoint. Only the events of the answers are kept: no request, no header, no
 * key.
 */
export async function recordAnswers(target: { baseUrl: string; headers?: Record<string, string> }): Promise<Recorder> {
  const answers: Answer[] = [];
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const response = await fetch(`${target.baseUrl}${(incoming.url ?? '').replace(/^\/v1/, '')}`, {
      method: incoming.method ?? 'POST',
      headers: { 'content-type': 'application/json', ...target.headers },
      ...(incoming.method === 'POST' && { body: Buffer.concat(pieces).toString('utf8') }),
    });
    outgoing.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? 'application/json' });
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      outgoing.write(piece);
    }
    outgoing.end();
    if (incoming.method === 'POST')
      answers.push(response.ok ? readStream(text) : { status: { code: response.status, body: text } });
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    answers,
    async save(name) {
      writeFileSync(new URL(`${name}.json`, ANSWERS), `${JSON.stringify(answers, null, 2)}\n`);
      await close();
    },
    close,
  };
}

interface Chunk {
  choices?: {
    delta?: {
      content?: string;
      reasoning_content?: string;
      tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
    };
    finish_reason?: string | null;
  }[];
  usage?: Record<string, unknown> | null;
  error?: Record<string, unknown>;
}

/** The events of a recorded stream. */
export function readStream(text: string): Answer {
  const events: AnswerEvent[] = [];
  for (const [, data = ''] of text.matchAll(/^data: ?(.*)$/gm)) {
    if (data.trim() === '[DONE]') continue;
    const chunk = JSON.parse(data) as Chunk;
    const choice = chunk.choices?.[0];
    if (choice?.delta?.reasoning_content) events.push({ reasoning: choice.delta.reasoning_content });
    if (choice?.delta?.content) events.push({ text: choice.delta.content });
    for (const { index = 0, id, function: call } of choice?.delta?.tool_calls ?? []) {
      if (id !== undefined || call?.name !== undefined) {
        events.push({
          call: {
            index,
            ...(id !== undefined && { id }),
            ...(call?.name && { name: call.name }),
            args: call?.arguments ?? '',
          },
        });
      } else events.push({ args: call?.arguments ?? '', index });
    }
    if (choice?.finish_reason) events.push({ finish: choice.finish_reason });
    if (chunk.usage) events.push({ usage: chunk.usage });
    if (chunk.error) events.push({ error: chunk.error });
  }
  return { events };
}
