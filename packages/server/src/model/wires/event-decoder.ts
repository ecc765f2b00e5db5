import { EVENT_CHARACTERS } from '../limits.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import { ServerSentEventReader } from '../server-sent-events.ts';
import type { EventDecoder } from './wire.ts';

/** A text/event-stream. */
export class TextEventDecoder implements EventDecoder {
  readonly #text = new TextDecoder();
  readonly #events = new ServerSentEventReader({ maxCharacters: EVENT_CHARACTERS });

  push(bytes: Uint8Array): ServerSentEvent[] {
    return this.#events.push(this.#text.decode(bytes, { stream: true }));
  }

  finish(): ServerSentEvent[] {
    return [...this.#events.push(this.#text.decode()), ...this.#events.finish()];
  }
}

/** The body of a server that does not stream: one event, or one for each entry of a list. Mostly an error under the status of success. */
export class WholeBodyDecoder implements EventDecoder {
  readonly #text = new TextDecoder();
  readonly #pieces: string[] = [];
  #characters = 0;

  push(bytes: Uint8Array): ServerSentEvent[] {
    const piece = this.#text.decode(bytes, { stream: true });
    this.#pieces.push(piece);
    this.#characters += piece.length;
    if (this.#characters > EVENT_CHARACTERS) {
      throw new RangeError(`the answer is longer than ${EVENT_CHARACTERS} characters`);
    }
    return [];
  }

  finish(): ServerSentEvent[] {
    const data = this.#pieces.join('') + this.#text.decode();
    return entriesOf(data) ?? [{ data }];
  }
}

/** Google sends its events as one list where a gateway loses `alt=sse`. */
function entriesOf(data: string): ServerSentEvent[] | undefined {
  if (!data.trimStart().startsWith('[')) return undefined;
  try {
    return (JSON.parse(data) as unknown[]).map(entry => ({ data: JSON.stringify(entry) }));
  } catch {
    return undefined; // no list: whoever reads the event says what it is
  }
}
