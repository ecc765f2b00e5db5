import type { Clock } from './clock.ts';

/**
 * Notices when a stream has been silent for too long (R16). While it is held, because one of our own execs runs or a slow reader
 * keeps us from reading, no time passes; each whole frame and each release starts the time anew.
 */
export class Silence {
  private readonly clock: Clock;
  private readonly limit: number;
  private readonly onSilence: () => void;
  private stopTimer: (() => void) | undefined;
  private since: number;
  private holds = 0;
  private over = false;

  constructor(clock: Clock, limit: number, onSilence: () => void) {
    this.clock = clock;
    this.limit = limit;
    this.onSilence = onSilence;
    this.since = clock.now();
    this.arm(limit);
  }

  /** A whole frame arrived. */
  touch(): void {
    this.since = this.clock.now();
  }

  hold(): void {
    this.holds++;
  }

  release(): void {
    this.holds--;
    this.since = this.clock.now();
  }

  stop(): void {
    this.over = true;
    this.stopTimer?.();
  }

  // One timer that looks at the clock when it fires: a timer started anew for each of thousands of frames would cost more.
  private arm(delay: number): void {
    this.stopTimer = this.clock.after(delay, () => {
      if (this.over) return;
      if (this.holds > 0) return this.arm(this.limit);
      const left = this.since + this.limit - this.clock.now();
      if (left > 0) return this.arm(left);
      this.over = true;
      this.onSilence();
    });
  }
}
