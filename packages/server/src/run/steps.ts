import type { ToolCall } from '@tandem/protocol/agent';
import { isPart, partsOf } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';
import type { Turns } from '../conversation/turns.ts';

/** Puts an assistant message on the display side of the history: one step a part, tool calls with their finished cards (R26, R46). */
export function appendSteps(turns: Turns, message: ModelMessage, cards: ReadonlyMap<string, ToolCall>): void {
  for (const part of partsOf(message)) {
    if (isPart(part, 'text') && part.text !== '') {
      turns.append({ case: 'assistantMessage', value: { $typeName: 'agent.v1.AssistantMessage', text: part.text } });
    } else if (isPart(part, 'reasoning')) {
      const durationMs = Number(part.providerOptions?.['tandem']?.['durationMs'] ?? 1);
      turns.append({
        case: 'thinkingMessage',
        value: { $typeName: 'agent.v1.ThinkingMessage', text: part.text, durationMs },
      });
    } else if (isPart(part, 'tool-call')) {
      const card = cards.get(part.toolCallId);
      if (card) turns.append({ case: 'toolCall', value: card });
    }
  }
}
