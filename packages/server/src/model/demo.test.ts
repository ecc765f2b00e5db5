import type { ModelMessage } from '@tandem/protocol/message';
import { describe, expect, test } from 'vitest';
import { createDemo } from './demo.ts';
import type { ModelEvent, ToolDefinition } from './port.ts';

const toolsOf = (...names: string[]): ToolDefinition[] =>
  names.map(name => ({ name, description: '', parameters: { type: 'object' } }));
const ALL = toolsOf('Ls', 'Read', 'Shell', 'Write');
const LISTING = '/w\n  .git/ (12 files, not listed)\n  src/\n    README.md\n  package.json\n  readme.md';

async function answerTo(
  messages: ModelMessage[],
  tools = ALL,
): Promise<{ text: string; calls: [string, unknown][]; events: ModelEvent[] }> {
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of createDemo('demo').stream({ messages, tools, parameters: {}, signal })) events.push(event);
  const text = events.map(event => (event.type === 'text' ? event.text : '')).join('');
  const calls = events
    .filter(event => event.type === 'tool-call')
    .map(event => [event.name, JSON.parse(event.args)] as [string, unknown]);
  return { text, calls, events };
}

/** Plays a whole turn: `results` gives the result of each tool, or undefined for a failure. */
async function play(
  results: (name: string, args: Record<string, string>) => string | undefined,
  tools = ALL,
  before: ModelMessage[] = [],
) {
  const messages: ModelMessage[] = [...before, { role: 'user', content: 'What is in this folder?' }];
  const made: [string, unknown][][] = [];
  for (;;) {
    const { text, calls } = await answerTo(messages, tools);
    if (calls.length === 0) return { text, made };
    made.push(calls);
    const ids = calls.map((_, at) => `c${made.length}-${at}`);
    messages.push({
      role: 'assistant',
      content: calls.map(([toolName, args], at) => ({ type: 'tool-call', toolCallId: ids[at]!, toolName, args })),
    });
    messages.push({
      role: 'tool',
      content: calls.map(([toolName, args], at) => {
        const result = results(toolName, args as Record<string, string>);
        return {
          type: 'tool-result',
          toolCallId: ids[at]!,
          toolName,
          result: result ?? 'it failed',
          isError: result === undefined,
        };
      }),
    });
    // a note of the server in the middle of the turn is no question
    messages.push({ role: 'user', content: 'It is noon.', providerOptions: { tandem: { note: 'time' } } });
  }
}

const FOLDER = (name: string, args: Record<string, string>) => {
  if (name === 'Ls') return LISTING;
  if (name === 'Shell') return 'a1b2c3 first commit\n';
  return args['path'] === 'readme.md'
    ? '1|# A demo\n2|\n3|It shows things.'
    : '1|{\n2|  "name": "demo-folder",\n3|  "version": "1.2.3"\n4|}';
};

describe('the demo model', () => {
  test('[product-demo-model] lists, reads two files at once, runs one command and reports', async () => {
    const { text, made } = await play(FOLDER);
    expect(made).toEqual([
      [['Ls', { path: '.' }]],
      [
        ['Read', { path: 'readme.md' }],
        ['Read', { path: 'package.json' }],
      ],
      [['Shell', { command: 'git log --oneline -5', description: 'Show the newest commits' }]],
    ]);
    for (const said of [
      'demo model',
      'You asked: What is in this folder?',
      '- `src/`',
      '**A demo**',
      'It shows things.',
      '- name: demo-folder',
      '- version: 1.2.3',
      'a1b2c3 first commit',
      'OPENAI_API_KEY',
      'tandem.yaml',
    ]) {
      expect(text).toContain(said);
    }
    expect(text).not.toContain('What did not work');
  });

  test('ends with a report when every tool fails', async () => {
    const { text, made } = await play(() => undefined);
    expect(made.map(calls => calls[0]?.[0])).toEqual(['Ls', 'Read', 'Shell']);
    expect(text).toContain('## What did not work\n\n- Ls {"path":"."}: it failed');
  });

  test('uses only what it is offered', async () => {
    expect((await play(FOLDER, toolsOf('Ls'))).made).toEqual([[['Ls', { path: '.' }]]]);
    const { text, made } = await play(FOLDER, []);
    expect(made).toEqual([]);
    expect(text).toContain('No tool for looking at a folder was offered');
  });

  test('reads nothing in an empty folder', async () => {
    const { text, made } = await play((name, args) => (name === 'Ls' ? '/w\n(empty)' : FOLDER(name, args)));
    expect(made.map(calls => calls[0])).toEqual([
      ['Ls', { path: '.' }],
      ['Shell', { command: 'ls -la', description: 'List the folder' }],
    ]);
    expect(text).toContain('It is empty.');
  });

  test('begins anew with every question', async () => {
    const first = await play(FOLDER);
    const { made } = await play(FOLDER, ALL, [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: first.text },
    ]);
    expect(made).toHaveLength(3);
  });

  test('streams small deltas, each call whole, one finish, and invents no usage', async () => {
    const { events } = await answerTo([{ role: 'user', content: 'x' }]);
    const deltas = events.filter(event => event.type === 'text');
    expect(deltas.length).toBeGreaterThan(2);
    expect(Math.max(...deltas.map(event => event.text.length))).toBeLessThanOrEqual(12);
    expect(events.slice(-4).map(event => event.type)).toEqual(['tool-start', 'tool-args', 'tool-call', 'finish']);
    expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls', usage: {} });
  });

  test('stops when it is aborted', async () => {
    const abort = new AbortController();
    const stream = createDemo('demo')
      .stream({ messages: [], tools: [], parameters: {}, signal: abort.signal })
      [Symbol.asyncIterator]();
    await stream.next();
    abort.abort(new Error('enough'));
    await expect(stream.next()).rejects.toThrow('enough');
  });
});
