import type { MessagePart, ModelMessage, ToolCallPart, ToolResultPart } from '@tandem/protocol/message';
import { isPart, partsOf, toolCallsOf } from '@tandem/protocol/message';

/** What the model reads as the result of a call that never got one. */
export const INTERRUPTED = 'The call was interrupted before it gave a result.';

/**
 * A history in which every tool call is followed by exactly one result and every result has its call (K07): what is missing
 * reads as interrupted, a result without a call becomes a text of the user. Results are also taken from messages of the user, where others put them. Tool messages that follow one another become one,
 * and what cannot stand inside that round comes right after it.
 *
 * The repair of a beginning is the beginning of the repair (R47): it reads forward only, and the end of the history closes
 * a round as any other message would.
 */
export function repairHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  const repaired: ModelMessage[] = [];
  let open = new Map<string, ToolCallPart>();
  let results: ToolResultPart[] = [];
  let strays: MessagePart[] = [];

  const closeRound = () => {
    for (const call of open.values()) {
      results.push({
        type: 'tool-result',
        toolCallId: call.toolCallId,
        toolName: call.toolName,
        result: INTERRUPTED,
        isError: true,
      });
    }
    if (results.length > 0) repaired.push({ role: 'tool', content: results });
    if (strays.length > 0) repaired.push({ role: 'user', content: strays });
    open = new Map();
    results = [];
    strays = [];
  };

  for (const message of messages) {
    if (message.role === 'tool' || message.role === 'user') {
      const rest: MessagePart[] = [];
      for (const part of partsOf(message)) {
        if (!isPart(part, 'tool-result')) rest.push(part);
        else if (open.delete(part.toolCallId)) results.push(part);
        else strays.push({ type: 'text', text: textOfStray(part) });
      }
      if (message.role === 'tool') {
        strays.push(...rest); // output that names no call: somebody else's form, still worth reading
        continue;
      }
      closeRound();
      const isWhole = rest.length === partsOf(message).length;
      if (isWhole) repaired.push(message);
      else if (rest.length > 0) repaired.push({ ...message, content: rest });
      continue;
    }
    closeRound();
    if (message.role === 'system') {
      repaired.push(message);
      continue;
    }
    const kept = keepFirstOfEachId(message);
    repaired.push(kept);
    for (const call of toolCallsOf(kept)) open.set(call.toolCallId, call);
  }
  closeRound();
  return repaired;
}

/** The texts of a result, whatever its form, joined by newlines; images and unknown parts are left out. */
export function textOfResult(result: unknown): string {
  if (typeof result === 'string') return result;
  if (!Array.isArray(result)) return JSON.stringify(result) ?? '';
  return result
    .map((part: unknown) => (typeof part === 'string' ? part : ((part as { text?: unknown } | null)?.text ?? '')))
    .filter((text): text is string => typeof text === 'string' && text !== '')
    .join('\n');
}

function textOfStray(part: ToolResultPart): string {
  const name = part.toolName === '' ? 'a tool' : part.toolName;
  return `Result of an earlier call of ${name} (${part.toolCallId}):\n${textOfResult(part.result)}`;
}

/** Two calls of one id in one message cannot be told apart by their results: the first stays. */
function keepFirstOfEachId(message: ModelMessage): ModelMessage {
  const seen = new Set<string>();
  const parts = partsOf(message);
  const kept = parts.filter(part => {
    if (!isPart(part, 'tool-call')) return true;
    const isNew = !seen.has(part.toolCallId);
    seen.add(part.toolCallId);
    return isNew;
  });
  return kept.length === parts.length ? message : { ...message, content: kept };
}
