import type { Clock } from '@tandem/server';

/** A clock that stands until a test moves it. Timers fire in the order of their time, each seeing its own hour. */
export class ManualClock implements Clock {
  #now: number;
  #next = 1;
  readonly #timers = new Map<number, { at: number; ms: number; call: () => void }>();
  readonly #waiters = new Set<{ ms: number; resolve: () => void }>();

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + Math.max(0, ms), ms, call });
    for (const waiter of this.#waiters) {
      if (waiter.ms !== ms) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
    return () => this.#timers.delete(id);
  }

  /** Moves the hands by `ms`; everything due on the way is called. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      let due: { id: number; at: number; call: () => void } | undefined;
      for (const [id, { at, call }] of this.#timers) if (at <= until && (!due || at < due.at)) due = { id, at, call };
      if (!due) break;
      this.#timers.delete(due.id);
      this.#now = Math.max(this.#now, due.at);
      due.call();
    }
    this.#now = until;
  }

  /** Resolves once a timer of exactly this duration waits, now or later. */
  untilTimer(ms: number): Promise<void> {
    for (const timer of this.#timers.values()) if (timer.ms === ms) return Promise.resolve();
    return new Promise(resolve => this.#waiters.add({ ms, resolve }));
  }

  /**
   * Moves the hands in small steps and lets the event loop turn between them, so that what a timer sets off in this process is
   * done before the next one is due: `ms` of a server's life instead of a jump.
   */
  async pass(ms: number, step = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += step) {
      this.advance(Math.min(step, ms - passed));
      for (let turn = 0; turn < 3; turn++) await new Promise<void>(resolve => setImmediate(resolve));
    }
  }

  /** How many timers wait, for tests that look for leaks. */
  get pending(): number {
    return this.#timers.size;
  }
}
