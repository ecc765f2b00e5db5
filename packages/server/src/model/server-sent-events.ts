/** One event of a text/event-stream: its name when it has one, and its data lines joined by newlines. */
export interface ServerSentEvent {
  event?: string;
  data: string;
}

/**
 * Reads a text/event-stream from text in any cuts (P31): all three line ends, comments, `data:` with and without a space,
 * several data lines, fields nobody knows, and a last event without its blank line.
 */
export class ServerSentEventReader {
  readonly #maxCharacters: number;
  /** The line that is still coming in; joined once its end is there, so that a long one is not copied again and again. */
  #pieces: string[] = [];
  #data: string[] = [];
  #event: string | undefined;
  /** Characters since the last event was complete. */
  #length = 0;

  constructor(options: { maxCharacters: number }) {
    this.#maxCharacters = options.maxCharacters;
  }

  /**
   * Takes more text and returns the events that it completed.
   * @throws RangeError when one event is longer than the limit.
   */
  push(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    this.#length += text.length;
    this.#pieces.push(text);
    // A CR at the very end may be half of a CRLF, so the line it ends is read with the next text.
    if (/[\r\n]/.test(text) || this.#pieces.at(-2)?.endsWith('\r')) {
      const whole = this.#pieces.join('');
      const lineEnd = /\r\n|\r(?!$)|\n/g;
      let start = 0;
      for (let match = lineEnd.exec(whole); match; match = lineEnd.exec(whole)) {
        this.#readLine(whole.slice(start, match.index), events);
        start = lineEnd.lastIndex;
      }
      this.#pieces = start < whole.length ? [whole.slice(start)] : [];
    }
    if (this.#length > this.#maxCharacters) {
      throw new RangeError(`one event of the stream is longer than ${this.#maxCharacters} characters`);
    }
    return events;
  }

  /** The event that the end of the stream completes, if any. */
  finish(): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    const rest = this.#pieces.join('');
    this.#pieces = [];
    if (rest !== '') this.#readLine(rest.replace(/\r$/, ''), events);
    this.#complete(events);
    return events;
  }

  #readLine(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      this.#complete(events);
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
  }

  #complete(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) {
      events.push(
        this.#event === undefined
          ? { data: this.#data.join('\n') }
          : { event: this.#event, data: this.#data.join('\n') },
      );
    }
    this.#data = [];
    this.#event = undefined;
    this.#length = 0;
  }
}
