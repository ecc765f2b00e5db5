/** Time as the client sees it; tests put their own in place. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once after `delay` milliseconds; the returned function cancels it. */
  after(delay: number, callback: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delay, callback) {
    const timer = setTimeout(callback, delay);
    return () => clearTimeout(timer);
  },
};

/** Waits `delay` milliseconds; ends early, without an error, when the signal is aborted. */
export function pause(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      stop();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const stop = clock.after(delay, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** Waits for `work` at most `delay` milliseconds; after that rejects with the error that `late` makes. */
export function within<T>(clock: Clock, delay: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(delay, () => reject(late()));
    work.then(
      value => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}
