import { ChatChunks } from './chat-chunk.ts';
import { EVENT_CHARACTERS } from './limits.ts';
import { ServerSentEventReader } from './server-sent-events.ts';

/** How a body is read. */
export interface ChatBodyOptions {
  /** False for a server that ignored `stream`: its body is one JSON value and is read as one event. */
  isStream: boolean;
  /** Called for every piece that arrives, comments included: a sign of life. */
  onBytes?: (() => void) | undefined;
}

/**
 * The body of a chat-completions answer, mended by {@link ChatChunks}: bytes of a text/event-stream in the provider layer's own
 * dialect. A connection that breaks ends it with an error event after everything that had arrived, since the error of a stream
 * would drop what waits in it. It ends at `[DONE]`, also when the provider keeps the connection open.
 */
export function mendChatBody(body: ReadableStream<Uint8Array>, options: ChatBodyOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const reader = body.getReader();
  const next = readEvents(reader, options);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let events: Awaited<ReturnType<typeof next>>;
      do events = await next();
      while (events.text === '' && !events.isLast);
      if (events.text !== '') controller.enqueue(encoder.encode(events.text));
      if (!events.isLast) return;
      controller.close();
      await reader.cancel().catch(() => undefined); // already broken: nothing is left to release
    },
    cancel: reason => reader.cancel(reason),
  });
}

function readEvents(reader: ReadableStreamDefaultReader<Uint8Array>, { isStream, onBytes }: ChatBodyOptions) {
  const decoder = new TextDecoder();
  const events = new ServerSentEventReader({ maxCharacters: EVENT_CHARACTERS });
  const chunks = new ChatChunks();
  const pieces: string[] = [];
  let length = 0;

  const mend = (text: string, isEnd: boolean): Record<string, unknown>[] => {
    if (isStream) {
      const complete = events.push(text);
      if (isEnd) complete.push(...events.finish());
      return complete.flatMap(event => chunks.push(event));
    }
    pieces.push(text);
    length += text.length;
    if (length > EVENT_CHARACTERS) throw new RangeError(`the answer is longer than ${EVENT_CHARACTERS} characters`);
    return isEnd ? chunks.push({ data: pieces.join('') }) : [];
  };

  return async (): Promise<{ text: string; isLast: boolean }> => {
    try {
      const { done, value } = await reader.read();
      if (!done) onBytes?.();
      const mended = mend(done ? decoder.decode() : decoder.decode(value, { stream: true }), done);
      const isLast = done || chunks.isDone;
      return { text: write(isLast ? [...mended, ...chunks.finish()] : mended), isLast };
    } catch (error) {
      return { text: write(chunks.fail(textOfError(error))), isLast: true };
    }
  };
}

function write(values: readonly unknown[]): string {
  return values.map(value => `data: ${JSON.stringify(value)}\n\n`).join('');
}

/** The innermost message says what happened to the connection; the outer ones only that something did. */
function textOfError(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message : String(inner);
}
