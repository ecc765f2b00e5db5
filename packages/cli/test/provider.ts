import { writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeFolder } from './surroundings.ts';

/** What the model does in one call: says something, calls a tool, or says something and then never ends. */
export type ModelAnswer =
  | { readonly text: string; readonly hangs?: boolean; readonly usage?: object }
  | { readonly tool: string; readonly args: Readonly<Record<string, unknown>>; readonly usage?: object }
  | { readonly status: number };

/**
 * A provider on the OpenAI chat wire that gives these answers, and a config that points at it; `model` is added to what the config says of
 * its model. Closed when the test is over.
 */
export async function startProvider(
  answers: readonly ModelAnswer[],
  model: object = {},
): Promise<{ config: string; bodies: string[] }> {
  const left = [...answers];
  const bodies: string[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', piece => (body += String(piece)));
    request.on('end', () => {
      bodies.push(body);
      give(left.shift() ?? { text: 'nothing is left to say' }, response);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const config = join(makeFolder(), 'tandem.json');
  writeFileSync(
    config,
    JSON.stringify({
      providers: { scripted: { type: 'openai-compatible', baseUrl, models: [{ id: 'test-model', ...model }] } },
    }),
  );
  return { config, bodies };
}

function give(answer: ModelAnswer, response: http.ServerResponse): void {
  if ('status' in answer) {
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end('{"error":{"message":"the model said no"}}');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish_reason: string | null = null, usage?: object) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason }], ...(usage && { usage }) })}\n\n`,
    );
  if ('text' in answer) {
    chunk({ role: 'assistant', content: answer.text });
    if (answer.hangs) return;
    chunk({}, 'stop', answer.usage);
  } else {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: answer.tool, arguments: JSON.stringify(answer.args) },
    };
    chunk({ role: 'assistant', tool_calls: [call] });
    chunk({}, 'tool_calls', answer.usage);
  }
  response.end('data: [DONE]\n\n');
}
