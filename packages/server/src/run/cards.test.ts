import { create } from '@bufbuild/protobuf';
import { ReadToolCallSchema, ToolCallDeltaSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { RecordedOutbox } from '../../test/recorded-outbox.ts';
import type { Card } from '../tools/tool.ts';
import { Cards } from './cards.ts';

const card = (path: string, error?: string): Card => ({
  case: 'readToolCall',
  value: create(ReadToolCallSchema, {
    args: { path },
    ...(error ? { result: { result: { case: 'error', value: { errorMessage: error } } } } : {}),
  }),
});
const close = (message: string) => card('a', message);
const delta = create(ToolCallDeltaSchema, { delta: { case: 'shellToolCallDelta', value: {} } });

function deck() {
  const outbox = new RecordedOutbox();
  let now = 1_000;
  const cards = new Cards(outbox, () => now++);
  const seen = () =>
    outbox.updates.map(({ case: event, value }: any) => [
      event,
      value.callId,
      value.modelCallId,
      value.toolCall?.tool.value.args.path,
    ]);
  return { outbox, cards, seen, last: () => outbox.updates.at(-1)!.value as any };
}

describe('tool cards', () => {
  it('are partial, then started, then completed, under one call id and one model call id (R24)', () => {
    const { cards, seen } = deck();
    cards.partial('c', 'm', card(''), close);
    cards.argsText('c', card(''), '{"path"');
    cards.start('c', 'm', card('a'), close);
    cards.delta('c', delta);
    cards.complete('c', card('a'));
    expect(seen()).toEqual([
      ['partialToolCall', 'c', 'm', ''],
      ['partialToolCall', 'c', 'm', ''],
      ['toolCallStarted', 'c', 'm', 'a'],
      ['toolCallDelta', 'c', 'm', undefined],
      ['toolCallCompleted', 'c', 'm', 'a'],
    ]);
  });

  it('have the time of their start, and at the end both times (R22)', () => {
    const { cards, last } = deck();
    cards.start('c', 'm', card('a'), close, 500.7);
    expect(last().toolCall).toMatchObject({ toolCallId: 'c', startedAtMs: 500n });
    expect(last().toolCall.completedAtMs).toBeUndefined();
    expect(cards.complete('c', card('a'))).toMatchObject({ startedAtMs: 500n });
    expect(last().toolCall.completedAtMs).toBeGreaterThanOrEqual(1_000n);
  });

  it('are completed once, and nothing follows (R21)', () => {
    const { cards, outbox } = deck();
    cards.start('c', 'm', card('a'), close);
    expect(cards.complete('c', card('a'))).toBeDefined();
    const count = outbox.messages.length;
    expect(cards.complete('c', card('a'))).toBeUndefined();
    cards.delta('c', delta);
    cards.argsText('c', card(''), 'more');
    cards.closeAll('over');
    expect(outbox.messages).toHaveLength(count);
  });

  it('take no argument text once they are started, or before they are open (R23)', () => {
    const { cards, outbox } = deck();
    cards.argsText('c', card(''), 'early');
    cards.delta('c', delta);
    expect(outbox.messages).toEqual([]);
    cards.start('c', 'm', card('a'), close);
    cards.argsText('c', card(''), 'late');
    expect(outbox.messages).toHaveLength(1);
  });

  it('are all closed with an error result when they must be, partial ones too', () => {
    const { cards, outbox } = deck();
    cards.partial('half', 'm', card(''), close);
    cards.start('open', 'm', card('a'), close);
    cards.start('done', 'm', card('a'), close);
    cards.complete('done', card('a'));
    cards.closeAll('The call was cancelled.');
    const closed = outbox.updates
      .slice(-2)
      .map(({ value }: any) => [value.callId, value.toolCall.tool.value.result.result]);
    expect(closed).toMatchObject([
      ['half', { case: 'error', value: { errorMessage: 'The call was cancelled.' } }],
      ['open', { case: 'error', value: { errorMessage: 'The call was cancelled.' } }],
    ]);
  });
});
