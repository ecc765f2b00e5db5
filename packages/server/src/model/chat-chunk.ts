import type { ServerSentEvent } from './server-sent-events.ts';
import type { OwnedPiece, ToolCallPiece } from './chat-tool-calls.ts';
import { ToolCallPieces } from './chat-tool-calls.ts';

type Json = Record<string, unknown>;

/** The finish reason of an answer that ended without one. */
export const MISSING_REASON = 'missing';

/** The error type under which a broken connection is handed on inside the stream, so that what came before it is not lost. */
export const BROKEN_STREAM = 'tandem_broken_stream';

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Mends a chat-completions stream event by event, so that what comes out is what the provider layer understands: vendor events
 * are dropped (P31), errors have one shape, tool calls have unique indices and ids (P09, P11), a whole `message` in
 * place of deltas is read, and an end without a reason says so (R57).
 *
 * The id of a tool call comes out as `index:id`, its index here and the provider's own id, which may be empty or used twice.
 */
export class ChatChunks {
  #pieces = new ToolCallPieces();
  #hasContent = false;
  #hasReason = false;
  #hasFailed = false;
  #isDone = false;

  /** True once nothing more can come: the provider said so, whether or not it closes the connection, or it failed. */
  get isDone(): boolean {
    return this.#isDone || this.#hasFailed;
  }

  /** Mends one event; the result is a list of JSON values, mostly one or none. */
  push(event: ServerSentEvent): Json[] {
    const text = event.data.trim();
    if (this.isDone || text === '') return [];
    if (text === '[DONE]') {
      this.#isDone = true;
      return [];
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (event.event === 'error') return this.#fail({ message: text });
      // A line of prose from a gateway is no loss; a chunk cut in two is.
      return text.startsWith('{') ? this.fail(`an event is not JSON: ${(error as Error).message}`) : [];
    }
    return isRecord(value) ? this.#mend(value, event.event === 'error') : [];
  }

  /** What the end of the body adds. */
  finish(): Json[] {
    if (this.#hasFailed) return [];
    const chunks = this.#pieces.finish().map(toChunk);
    if (!this.#hasReason) chunks.push({ choices: [{ index: 0, delta: {}, finish_reason: MISSING_REASON }] });
    return chunks;
  }

  /** Ends the stream because the connection or its bytes broke. */
  fail(message: string): Json[] {
    return this.#fail({ message, type: BROKEN_STREAM });
  }

  #fail(error: Json): Json[] {
    this.#hasFailed = true;
    return [{ error }];
  }

  #mend(value: Json, isErrorEvent: boolean): Json[] {
    const error = errorOf(value, isErrorEvent);
    if (error) return this.#fail(error);
    const chunks: Json[] = [];
    const choice: unknown = Array.isArray(value['choices']) ? (value['choices'] as unknown[])[0] : undefined;
    if (isRecord(choice)) {
      const { toolCalls, ...delta } = this.#deltaOf(choice);
      const reason = choice['finish_reason'];
      if (Object.keys(delta).length > 0) chunks.push({ choices: [{ index: 0, delta }] });
      chunks.push(...toolCalls.map(toChunk));
      if (typeof reason === 'string' && reason !== '') {
        this.#hasReason = true;
        chunks.push({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      }
    }
    const usage = usageOf(value) ?? (isRecord(choice) ? usageOf(choice) : undefined);
    if (usage) chunks.push({ choices: [], usage });
    return chunks;
  }

  #deltaOf(choice: Json): Json & { toolCalls: OwnedPiece[] } {
    const isWhole = !isRecord(choice['delta']) || Object.keys(choice['delta']).length === 0;
    const source = isWhole ? choice['message'] : choice['delta'];
    // Some send deltas and then the whole message again.
    if (!isRecord(source) || (isWhole && (this.#hasContent || this.#pieces.hasCalls))) return { toolCalls: [] };
    const delta: Json & { toolCalls: OwnedPiece[] } = { toolCalls: [] };
    const reasoning = source['reasoning_content'] ?? source['reasoning'];
    if (typeof reasoning === 'string' && reasoning !== '') delta['reasoning_content'] = reasoning;
    const content = source['content'];
    if ((typeof content === 'string' && content !== '') || (Array.isArray(content) && content.every(isRecord))) {
      delta['content'] = content;
    }
    if (typeof source['refusal'] === 'string' && source['refusal'] !== '') delta['refusal'] = source['refusal'];
    if (delta['content'] !== undefined || delta['refusal'] !== undefined) this.#hasContent = true;
    const pieces: unknown[] = Array.isArray(source['tool_calls']) ? (source['tool_calls'] as unknown[]) : [];
    if (isRecord(source['function_call'])) pieces.push({ function: source['function_call'] });
    for (const piece of pieces) {
      const owned = isRecord(piece) ? this.#pieces.push(piece as ToolCallPiece) : undefined;
      if (owned) delta.toolCalls.push(owned);
    }
    return delta;
  }
}

function toChunk(piece: OwnedPiece): Json {
  const call: Json = { index: piece.index, function: { name: piece.name, arguments: piece.text } };
  if (piece.name !== undefined) call['id'] = `${piece.index}:${piece.id ?? ''}`;
  if (isRecord(piece.extra)) call['extra_content'] = piece.extra;
  return { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
}

/** The forms in which providers report a failure inside a stream that began well (P27). */
function errorOf(value: Json, isErrorEvent: boolean): Json | undefined {
  const error = value['error'];
  if (isRecord(error)) return oneShape(error);
  if (typeof error === 'string' && error !== '') return oneShape({ ...value, message: error });
  if (isErrorEvent || value['object'] === 'error' || value['type'] === 'error') return oneShape(value);
  return undefined;
}

function oneShape(error: Json): Json {
  const said = error['message'] ?? error['detail'] ?? error['msg'];
  const shaped: Json = { message: typeof said === 'string' && said !== '' ? said : JSON.stringify(error) };
  if (typeof error['type'] === 'string') shaped['type'] = error['type'];
  const code = error['code'] ?? error['status'];
  if (typeof code === 'string' || typeof code === 'number') shaped['code'] = code;
  return shaped;
}

/** Only the counts: strings in their place would make the whole event unreadable for the provider layer. */
function usageOf(value: Json): Json | undefined {
  const usage = value['usage'] ?? (isRecord(value['x_groq']) ? value['x_groq']['usage'] : undefined);
  if (!isRecord(usage)) return undefined;
  const counts = (source: Json): Json =>
    Object.fromEntries(
      Object.entries(source)
        .map(([key, count]) => [key, isRecord(count) ? counts(count) : count] as const)
        .filter(([, count]) => isRecord(count) || (typeof count === 'number' && Number.isFinite(count))),
    );
  return counts(usage);
}
