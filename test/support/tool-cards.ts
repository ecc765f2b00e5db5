import type { InteractionUpdate, ToolCall } from '@tandem/protocol/agent';
import type { Peer } from './peer.ts';

/** One update about a tool call, and where it stands among all frames. */
export interface CardEvent {
  readonly index: number;
  readonly event: 'partialToolCall' | 'toolCallStarted' | 'toolCallDelta' | 'toolCallCompleted';
  readonly modelCallId: string;
  /** Undefined for a delta. */
  readonly toolCall: ToolCall | undefined;
  /** Of a partial card. */
  readonly argsTextDelta: string | undefined;
}

/** All that a client was told of one tool call. */
export interface ShownCard {
  readonly callId: string;
  readonly events: CardEvent[];
  readonly started: CardEvent[];
  readonly completed: CardEvent[];
}

const EVENTS: ReadonlySet<string> = new Set<CardEvent['event']>([
  'partialToolCall',
  'toolCallStarted',
  'toolCallDelta',
  'toolCallCompleted',
]);

/** The tool cards that a peer saw, in the order in which they were opened. */
export function cardsOf(peer: Peer): ShownCard[] {
  const cards = new Map<string, ShownCard>();
  for (const { index, message } of peer.frames) {
    if (message?.message.case !== 'interactionUpdate') continue;
    const { case: event, value } = (message.message.value as InteractionUpdate).message;
    if (event === undefined || !EVENTS.has(event)) continue;
    const { callId, modelCallId, toolCall, argsTextDelta } = value as unknown as { callId: string } & CardEvent;
    const card = cards.get(callId) ?? { callId, events: [], started: [], completed: [] };
    cards.set(callId, card);
    const seen: CardEvent = { index, event: event as CardEvent['event'], modelCallId, toolCall, argsTextDelta };
    card.events.push(seen);
    if (event === 'toolCallStarted') card.started.push(seen);
    if (event === 'toolCallCompleted') card.completed.push(seen);
  }
  return [...cards.values()];
}

/** The result branch of a completed card, such as `success`; undefined while it has none. */
export function resultOf(card: ShownCard): { case?: string; value?: any } | undefined {
  const { value } = card.completed[0]?.toolCall?.tool ?? {};
  return (value as { result?: { result?: { case?: string; value?: any } } } | undefined)?.result?.result;
}
