/**
 * A signal this soon after another is the same wish: Ctrl-C reaches the whole process group, and npm passes its own one on.
 * Nobody presses twice on purpose that fast.
 */
const SAME_WISH_MS = 250;

/** Two steps of stopping, from the signals of the process. */
export interface Interrupts {
  readonly stop: AbortSignal;
  readonly stopNow: AbortSignal;
  /** A signal came, or what amounts to one. */
  note(): void;
}

/** The first note aborts `stop`, a later one `stopNow`. `now` gives milliseconds. */
export function createInterrupts(now: () => number = () => performance.now()): Interrupts {
  const stop = new AbortController();
  const stopNow = new AbortController();
  let notedAt = 0;
  return {
    stop: stop.signal,
    stopNow: stopNow.signal,
    note() {
      if (!stop.signal.aborted) {
        notedAt = now();
        stop.abort();
      } else if (now() - notedAt >= SAME_WISH_MS) {
        stopNow.abort();
      }
    },
  };
}
