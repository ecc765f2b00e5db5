/**
 * The limit of the delta figure: what anybody who reads such streams has to do. The runtime's fetch, a parser of server-sent
 * events, JSON.parse; what comes out is counted.
 */
import { createParser } from 'eventsource-parser';

let deltas = 0;
let reads: Promise<void>[] = [];

async function read(baseUrl: string): Promise<void> {
  const body = JSON.stringify({
    model: 'test-model',
    stream: true,
    messages: [{ role: 'user', content: 'Say something.' }],
  });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') return;
      const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
      if (choices[0]?.delta.content !== undefined) deltas++;
    },
  });
  const decoder = new TextDecoder();
  for await (const piece of response.body!) parser.feed(decoder.decode(piece, { stream: true }));
}

process.on('message', async (asked: { baseUrl: string; streams: number } | 'finish') => {
  if (asked !== 'finish') {
    deltas = 0;
    reads = Array.from({ length: asked.streams }, () => read(asked.baseUrl));
    process.send!({});
    return;
  }
  await Promise.all(reads);
  process.send!({ deltas });
});
process.on('SIGTERM', () => process.exit(0));
process.send!({});
