import type { ModelMessage } from '@tandem/protocol/message';
import { describe, expect, it } from 'vitest';
import { readPending, writePending } from './pending-calls.ts';

const message: ModelMessage = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'I look.' },
    { type: 'tool-call', toolCallId: 'call-1', toolName: 'Read', args: { path: 'a.txt' } },
  ],
};

describe('pending_tool_calls', () => {
  it('come back as they were written, in one entry with the time they began', () => {
    const entry = writePending({ message, startedAtMs: 1_800_000_000_000 });
    expect(JSON.parse(entry)).toEqual({ ...message, startedAtMs: 1_800_000_000_000 });
    expect(readPending([entry])).toEqual({ batch: { message, startedAtMs: 1_800_000_000_000 }, unreadable: 0 });
  });

  it('keep which of them were refused, and why (R57)', () => {
    const refusals = { 'call-1': 'The arguments are not valid JSON.' };
    const { batch } = readPending([writePending({ message, startedAtMs: 1, refusals })]);
    expect(batch).toEqual({ message, startedAtMs: 1, refusals });
  });

  it('of others are read as a message without a time, or as one call an entry, joined in order', () => {
    expect(readPending([JSON.stringify(message)]).batch).toEqual({ message, startedAtMs: 0 });
    const lone = (id: string, args: unknown) => JSON.stringify({ toolCallId: id, toolName: 'Read', args });
    const { batch, unreadable } = readPending([lone('a', { path: 'a.txt' }), lone('b', '{"path":"b.txt"}')]);
    expect(unreadable).toBe(0);
    expect(batch!.message.content).toMatchObject([
      { type: 'tool-call', toolCallId: 'a', args: { path: 'a.txt' } },
      { type: 'tool-call', toolCallId: 'b', args: { path: 'b.txt' } },
    ]);
  });

  it('that nobody can read are counted, and keep the others from nothing', () => {
    const { batch, unreadable } = readPending([
      '<xml/>',
      '7',
      '{"toolName":"Read"}',
      writePending({ message, startedAtMs: 1 }),
    ]);
    expect(unreadable).toBe(3);
    expect(batch?.message).toEqual(message);
  });

  it('are none when the state has none, or a message without calls', () => {
    expect(readPending([])).toEqual({ batch: undefined, unreadable: 0 });
    expect(readPending([JSON.stringify({ role: 'assistant', content: 'just text' })]).batch).toBeUndefined();
  });
});
