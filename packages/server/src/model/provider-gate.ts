import type { Clock } from '../clock.ts';
import { BREAKER_FAILURES, BREAKER_MS } from './limits.ts';
import type { Fetch } from './provider-fetch.ts';

/**
 * What all calls of one provider go through: a bound on those at one moment, and a breaker that leaves a provider alone for a while
 * after many calls in a row found it broken (no connection, or a status of 500 and above). Then one call tries it, and its success
 * opens the gate again.
 */
export class ProviderGate {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  /** The calls that have a place, by their signals. */
  readonly #inside = new WeakSet<AbortSignal>();
  #running = 0;
  #failures = 0;
  /** When the next call may try; 0 while the provider is thought sound. */
  #closedUntil = 0;

  constructor(clock: Clock, concurrency = Infinity) {
    this.#clock = clock;
    this.#most = concurrency;
  }

  /** A fetch whose calls go through this gate. A call holds its place until its signal aborts, as every call's does at its end. */
  guard(fetch: Fetch): Fetch {
    return async (url, init) => {
      const signal = init.signal ?? undefined;
      this.#check();
      if (this.#most !== Infinity && signal) await this.#enter(signal);
      return this.#judge(fetch(url, init), signal);
    };
  }

  #check(): void {
    const left = this.#closedUntil - this.#clock.now();
    if (left > 0) {
      throw new Error(
        `its last ${this.#failures} calls failed, so it is left alone for ${Math.ceil(left / 1000)} more seconds`,
      );
    }
    // one call tries; the others wait for what it finds
    if (this.#failures >= BREAKER_FAILURES) this.#closedUntil = this.#clock.now() + BREAKER_MS;
  }

  async #judge(answer: Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
    let isSound = false;
    try {
      const response = await answer;
      isSound = response.status < 500;
      return response;
    } finally {
      if (isSound) {
        this.#failures = 0;
        this.#closedUntil = 0;
      } else if (!signal?.aborted && ++this.#failures >= BREAKER_FAILURES) {
        this.#closedUntil = this.#clock.now() + BREAKER_MS;
      }
    }
  }

  /** Waits for a place; the first that came is the first that goes. A call that asks twice keeps the place it has. */
  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#inside.has(signal)) return;
    if (this.#running < this.#most) {
      this.#running++;
      this.#take(signal);
    } else {
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          signal.removeEventListener('abort', giveUp);
          this.#take(signal);
          resolve();
        };
        const giveUp = () => {
          this.#waiting.delete(go);
          reject(signal.reason as Error);
        };
        this.#waiting.add(go);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    }
    signal.throwIfAborted(); // given up between the place and this line: the place went on to the next already
  }

  /** Gives a place to a call at the very moment it falls free, so that whoever gives up can hand it on. */
  #take(signal: AbortSignal): void {
    this.#inside.add(signal);
    signal.addEventListener('abort', () => this.#leave(), { once: true });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next) {
      this.#waiting.delete(next);
      next(); // the place goes from hand to hand
    } else this.#running--;
  }
}
