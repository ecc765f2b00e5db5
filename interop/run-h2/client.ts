// Run by Bun, in the workspace: bun client.ts URL MODEL PROMPT. Plays one turn with the stock client and prints one JSON object a line.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { streamCursor } from '@oh-my-pi/pi-ai/providers/cursor';

const [url = '', id = '', prompt = ''] = process.argv.slice(2);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const text = (toolName: string, toolCallId: string, words: string, isError = false) => ({
  role: 'toolResult',
  toolCallId,
  toolName,
  content: [{ type: 'text', text: words }],
  isError,
  timestamp: Date.now(),
});

/** What the embedder of that client lends to it: hands for this folder. */
const execHandlers = {
  async read({ path, toolCallId }: { path: string; toolCallId: string }) {
    say({ exec: 'read', path });
    return text('read', toolCallId, await readFile(resolve(path), 'utf8'));
  },
  async write({ path, fileText, toolCallId }: { path: string; fileText: string; toolCallId: string }) {
    say({ exec: 'write', path });
    await writeFile(resolve(path), fileText);
    return text('write', toolCallId, 'written');
  },
};
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const model = {
  id,
  name: id,
  api: 'cursor-agent',
  provider: 'cursor',
  baseUrl: url,
  reasoning: false,
  input: ['text'],
  cost,
  contextWindow: 200_000,
  maxTokens: 8_000,
};
const context = {
  systemPrompt: ['You are a careful assistant.'],
  messages: [{ role: 'user', content: prompt, timestamp: Date.now() }],
  tools: [],
};
// their declarations are for their own releases; what is passed is what their own agent passes
const events = streamCursor(
  model as never,
  context as never,
  { apiKey: 'test', cwd: process.cwd(), execHandlers } as never,
);
for await (const event of events) say({ event: event.type });
const { stopReason, errorMessage, content } = await events.result();
say({ stopReason, errorMessage, text: content.map(part => (part.type === 'text' ? part.text : '')).join('') });
process.exit(0);
