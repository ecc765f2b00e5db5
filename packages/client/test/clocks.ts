import { systemClock } from '../src/clock.ts';
import type { Clock } from '../src/clock.ts';

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  private time = 1_000_000;
  private readonly timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.time;
  }

  after(delay: number, callback: () => void): () => void {
    const timer = { at: this.time + delay, callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Lets `duration` milliseconds pass; what is due in them is called in its order. */
  pass(duration: number): void {
    const end = this.time + duration;
    for (;;) {
      const due = [...this.timers].filter(timer => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers.delete(due);
      this.time = due.at;
      due.callback();
    }
    this.time = end;
  }
}

/** The machine's clock, `factor` times as fast: seconds of waiting become milliseconds where real sockets take part. */
export function fastClock(factor: number): Clock {
  const start = Date.now();
  return {
    now: () => start + (Date.now() - start) * factor,
    after: (delay, callback) => systemClock.after(delay / factor, callback),
  };
}
