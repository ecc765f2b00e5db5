import { create } from '@bufbuild/protobuf';
import { ToolCallSchema } from '@tandem/protocol/agent';
import type { InteractionUpdate, ToolCall, ToolCallDelta } from '@tandem/protocol/agent';
import { updateMessage } from '../bridge/outbox.ts';
import type { Outbox } from '../bridge/outbox.ts';
import type { Card } from '../tools/tool.ts';

/** A card that the client sees and that has not been closed. */
interface OpenCard {
  readonly modelCallId: string;
  startedAtMs: number;
  started: boolean;
  /** The card with an error result, for whoever must close it without the tool. */
  close(message: string): Card;
}

/**
 * The tool cards of one run (§16.2). A card is partial, then started, then completed; nothing follows completed (R21), and every
 * card carries one call_id and one model_call_id (R24) and its times (R22).
 */
export class Cards {
  readonly #outbox: Outbox;
  readonly #now: () => number;
  readonly #open = new Map<string, OpenCard>();

  constructor(outbox: Outbox, now: () => number) {
    this.#outbox = outbox;
    this.#now = now;
  }

  /** The call was named; its arguments follow as text (R23). */
  partial(callId: string, modelCallId: string, card: Card, close: OpenCard['close']): void {
    this.#open.set(callId, { modelCallId, startedAtMs: this.#now(), started: false, close });
    this.#sendPartial(callId, modelCallId, card, '');
  }

  /** More of the argument text, appended to what came before. */
  argsText(callId: string, card: Card, argsTextDelta: string): void {
    const open = this.#open.get(callId);
    if (!open || open.started) return;
    this.#sendPartial(callId, open.modelCallId, card, argsTextDelta);
  }

  /** The arguments are complete and authoritative. A card that was never partial may start as well. */
  start(callId: string, modelCallId: string, card: Card, close: OpenCard['close'], startedAtMs = this.#now()): void {
    const open = this.#open.get(callId) ?? { modelCallId, startedAtMs, started: false, close };
    Object.assign(open, { started: true, startedAtMs, close });
    this.#open.set(callId, open);
    const toolCall = this.#toolCall(callId, card, startedAtMs);
    this.#send({
      case: 'toolCallStarted',
      value: { $typeName: 'agent.v1.ToolCallStartedUpdate', callId, modelCallId, toolCall },
    });
  }

  /** What happens while the tool runs; nothing once the card is closed. */
  delta(callId: string, toolCallDelta: ToolCallDelta): void {
    const open = this.#open.get(callId);
    if (!open) return;
    const { modelCallId } = open;
    this.#send({
      case: 'toolCallDelta',
      value: { $typeName: 'agent.v1.ToolCallDeltaUpdate', callId, modelCallId, toolCallDelta },
    });
  }

  /** The tool has its result. Returns the whole card for the history, or undefined when it was closed before. */
  complete(callId: string, card: Card): ToolCall | undefined {
    const open = this.#open.get(callId);
    if (!open) return undefined;
    this.#open.delete(callId);
    const { modelCallId, startedAtMs } = open;
    const toolCall = this.#toolCall(callId, card, startedAtMs, this.#now());
    this.#send({
      case: 'toolCallCompleted',
      value: { $typeName: 'agent.v1.ToolCallCompletedUpdate', callId, modelCallId, toolCall },
    });
    return toolCall;
  }

  /** Closes every open card with an error result: cancel, failure, calls that will not run. */
  closeAll(message: string): void {
    for (const [callId, open] of [...this.#open]) this.complete(callId, open.close(message));
  }

  #sendPartial(callId: string, modelCallId: string, card: Card, argsTextDelta: string): void {
    const toolCall = this.#toolCall(callId, card, this.#open.get(callId)?.startedAtMs ?? this.#now());
    this.#send({
      case: 'partialToolCall',
      value: { $typeName: 'agent.v1.PartialToolCallUpdate', callId, modelCallId, toolCall, argsTextDelta },
    });
  }

  #toolCall(toolCallId: string, tool: Card, startedAtMs: number, completedAtMs?: number): ToolCall {
    const toolCall = create(ToolCallSchema, { tool, toolCallId, startedAtMs: BigInt(Math.floor(startedAtMs)) });
    if (completedAtMs !== undefined) toolCall.completedAtMs = BigInt(Math.floor(completedAtMs));
    return toolCall;
  }

  #send(message: InteractionUpdate['message']): void {
    this.#outbox.append(updateMessage(message));
  }
}
