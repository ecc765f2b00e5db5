import { isPart, parseModelMessage, partsOf, toolCallsOf } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';

/** The assistant message whose tool calls have no results yet, as a staged checkpoint carries it (R48). */
export interface PendingBatch {
  readonly message: ModelMessage;
  readonly startedAtMs: number;
  /** Calls that must not run, and what their result says: the history keeps `{}` for arguments that were none (R57). */
  readonly refusals?: Readonly<Record<string, string>>;
}

/** One entry of `pending_tool_calls`: the message in the form of R46, with `startedAtMs`. */
export function writePending({ message, startedAtMs, refusals = {} }: PendingBatch): string {
  return JSON.stringify({ ...message, startedAtMs, ...(Object.keys(refusals).length > 0 && { refusals }) });
}

/**
 * Reads `pending_tool_calls`: our own entry, a foreign assistant message, or foreign entries of one call each
 * `{toolCallId, toolName, args}`. What is neither is counted in `unreadable`, to be noted as interrupted.
 */
export function readPending(entries: readonly string[]): { batch: PendingBatch | undefined; unreadable: number } {
  const parts: ModelMessage['content'] & object[] = [];
  let whole: PendingBatch | undefined;
  let unreadable = 0;
  for (const entry of entries) {
    let value: Record<string, unknown>;
    try {
      value = JSON.parse(entry) as Record<string, unknown>;
    } catch {
      unreadable++;
      continue;
    }
    const message = asMessage(value);
    if (message && toolCallsOf(message).length > 0) {
      const startedAtMs = typeof value['startedAtMs'] === 'number' ? value['startedAtMs'] : 0;
      if (whole) parts.push(...partsOf(message));
      else whole = { message, startedAtMs, ...refusalsOf(value['refusals']) };
    } else if (message === undefined) unreadable++;
  }
  if (!whole) return { batch: undefined, unreadable };
  if (parts.length === 0) return { batch: whole, unreadable };
  return {
    batch: { ...whole, message: { ...whole.message, content: [...partsOf(whole.message), ...parts] } },
    unreadable,
  };
}

function refusalsOf(value: unknown): Pick<PendingBatch, 'refusals'> {
  if (typeof value !== 'object' || value === null) return {};
  return { refusals: Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string')) };
}

function asMessage(value: unknown): ModelMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { startedAtMs: _, refusals: __, ...rest } = value as Record<string, unknown>;
  try {
    return parseModelMessage(rest);
  } catch {
    const lone = parseModelMessage({ role: 'assistant', content: [{ ...rest, type: 'tool-call' }] });
    return partsOf(lone).some(part => isPart(part, 'tool-call')) ? lone : undefined;
  }
}
