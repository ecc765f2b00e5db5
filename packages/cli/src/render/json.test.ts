import type { RunEvent } from '@tandem/client';
import { describe, expect, it } from 'vitest';
import { createJsonRender, createStreamJsonRender } from './json.ts';

const events: RunEvent[] = [
  { type: 'text', text: 'one\n\u2028' },
  { type: 'tool', id: 'call-1', name: 'read', status: 'partial', argsTextDelta: '{"pa' },
  { type: 'tool', id: 'call-1', name: 'read', status: 'running', args: { path: 'a.txt' } },
  { type: 'tool', id: 'call-1', name: 'read', status: 'completed', result: { success: { content: 'hi' } } },
  { type: 'usage', inputTokens: 12_345 },
  { type: 'end', outcome: 'ended', text: 'two', usage: { inputTokens: 12_345 }, conversationId: 'c' },
];

describe('the JSON outputs', () => {
  it('[product-stream-json] writes every event as it is, one object a line, the end last', () => {
    const text = events
      .flatMap(createStreamJsonRender())
      .map(piece => piece.text)
      .join('');
    expect(text.endsWith('\n')).toBe(true);
    expect(
      text
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as unknown),
    ).toEqual(events);
  });

  it('[product-output-json] keeps the failure of a run that was cancelled while it was tried again', () => {
    const error = { code: 'unavailable', title: 'Unavailable', message: 'no answer', retryable: true } as const;
    const retry: RunEvent = { type: 'retry', attempt: 2, delayMs: 1, reason: 'Unavailable: no answer', error };
    const cancelled: RunEvent = { type: 'end', outcome: 'cancelled', text: '', conversationId: 'c' };
    const written = (all: RunEvent[]) => JSON.parse(all.flatMap(createJsonRender())[0]!.text) as unknown;
    expect(written([retry, cancelled])).toEqual({ ...cancelled, error, tools: [] });
    // what was tried again and went on was not cancelled for that
    expect(written([retry, { type: 'text', text: 'on' }, cancelled])).toEqual({ ...cancelled, tools: [] });
    expect(written([retry, { ...cancelled, outcome: 'ended' }])).toEqual({ ...cancelled, outcome: 'ended', tools: [] });
  });

  it('[product-output-json] writes the end alone with the list of tool calls', () => {
    const pieces = events.flatMap(createJsonRender());
    expect(pieces).toHaveLength(1);
    expect(pieces[0]!.to).toBe('stdout');
    expect(JSON.parse(pieces[0]!.text)).toEqual({
      ...events.at(-1),
      tools: [
        {
          id: 'call-1',
          name: 'read',
          status: 'completed',
          args: { path: 'a.txt' },
          result: { success: { content: 'hi' } },
        },
      ],
    });
  });
});
