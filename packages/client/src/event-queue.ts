import { limits } from './limits.ts';

/**
 * Events between the run and its reader. With a reader, a full queue makes `room()` wait, so the stream is read no faster than the
 * reader goes. Without one nobody would ever make room, so the oldest events are dropped; the last event, the end, always stays.
 */
export class EventQueue<Event> {
  private readonly waiting: Event[] = [];
  private wakeReader: (() => void) | undefined;
  private wakeWriters: (() => void)[] = [];
  private hasReader = false;
  private ended = false;

  push(event: Event): void {
    if (this.ended) return;
    this.waiting.push(event);
    if (!this.hasReader && this.waiting.length > limits.eventsWaiting) this.waiting.shift();
    this.wakeReader?.();
  }

  /** Pushes the last event; the reader's loop ends after it. */
  end(event: Event): void {
    this.push(event);
    this.ended = true;
    this.wakeReader?.();
    this.release();
  }

  /** Resolves once there is room for more. */
  room(): Promise<void> | undefined {
    if (!this.hasReader || this.ended || this.waiting.length < limits.eventsWaiting) return undefined;
    return new Promise(resolve => this.wakeWriters.push(resolve));
  }

  /** All events from here on, once: a second reader is refused. */
  read(): AsyncIterator<Event> {
    if (this.hasReader) throw new Error('a run has one reader; its events are already being read');
    this.hasReader = true;
    return {
      next: async () => {
        while (this.waiting.length === 0 && !this.ended) {
          await new Promise<void>(resolve => (this.wakeReader = resolve));
          this.wakeReader = undefined;
        }
        const event = this.waiting.shift();
        if (this.waiting.length < limits.eventsWaiting / 2) this.release();
        return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
      },
      return: () => {
        // The reader left its loop: the run goes on, and its events fall away like those without a reader.
        this.hasReader = false;
        this.release();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  private release(): void {
    const writers = this.wakeWriters;
    this.wakeWriters = [];
    for (const wake of writers) wake();
  }
}
