import type { Clock } from '../clock.ts';

/** What a question may take. `waitMs` is renewed by every sign of life; `maxMs` is not. */
export interface Patience {
  readonly waitMs: number;
  readonly maxMs: number;
}

/** One question that the client has not answered yet. */
export interface Pending<T> {
  readonly id: number;
  readonly value: T;
  /** A sign of life: the short deadline starts anew (R17). */
  renew(): void;
  /** Replaces both deadlines by one, e.g. after stream_close. */
  shorten(ms: number, expire: () => void): void;
}

/**
 * The questions of one kind on one request stream: ids that only grow, 1 and up (R14), each with a deadline of its own (R18).
 * An answer is matched by number alone; who is not in here is unknown or finished.
 */
export class PendingTable<T> {
  #next = 1;
  readonly #open = new Map<number, { pending: Pending<T>; stop(): void }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes the next number. `expire` is called at most once, with the entry already gone. */
  open(value: T, patience: Patience, expire: () => void): Pending<T> {
    const id = this.#next++;
    const started = this.#clock.now();
    let cancel = () => {};
    const arm = (ms: number, then: () => void) => {
      cancel();
      cancel = this.#clock.after(ms, () => {
        this.#open.delete(id);
        then();
      });
    };
    const pending: Pending<T> = {
      id,
      value,
      renew: () => {
        const left = patience.maxMs - (this.#clock.now() - started);
        if (this.#open.has(id)) arm(Math.max(0, Math.min(patience.waitMs, left)), expire);
      },
      shorten: (ms, then) => {
        if (this.#open.has(id)) arm(ms, then);
      },
    };
    this.#open.set(id, { pending, stop: () => cancel() });
    arm(Math.min(patience.waitMs, patience.maxMs), expire);
    return pending;
  }

  get(id: number): Pending<T> | undefined {
    return this.#open.get(id)?.pending;
  }

  /** Forgets a question; true when it was still open. */
  close(id: number): boolean {
    const entry = this.#open.get(id);
    if (!entry) return false;
    entry.stop();
    return this.#open.delete(id);
  }

  /** Closes all, newest last, and tells each. */
  drain(each: (pending: Pending<T>) => void): void {
    for (const { pending } of [...this.#open.values()]) {
      this.close(pending.id);
      each(pending);
    }
  }

  renewAll(): void {
    for (const { pending } of this.#open.values()) pending.renew();
  }
}
