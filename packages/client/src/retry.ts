import type { AttemptFailure } from './failure.ts';
import type { Ids } from './ids.ts';
import { limits } from './limits.ts';

/** What is known when an attempt has failed. */
export interface FailedAttempt {
  failure: AttemptFailure;
  /** The turn was over: running it again would do everything twice. */
  turnEnded: boolean;
  /** Something was changed on this machine after the last checkpoint: a new attempt would not know of it. */
  changedSinceCheckpoint: boolean;
  /** Whether any attempt of this run ever reached the server. */
  everReached: boolean;
  /** Nobody listened at the server's address. */
  refused: boolean;
  /** Anything of the answer was shown: text, thinking or a tool call. */
  hadOutput: boolean;
  /** Milliseconds that the attempt lasted, and how many of them passed without a frame at its end. */
  lasted: number;
  silent: number;
}

/** The answer: wait so long and try again, or stop and say why. */
export type RetryDecision = { again: true; delayMs: number } | { again: false; because?: string };

/**
 * Decides whether a failed attempt is followed by another. Waits double from about a second to half a minute, each up to a fifth longer
 * by chance, so that many clients do not come back in the same moment. The time lost to broken connections is bounded for the whole run.
 */
export class Retry {
  private readonly ids: Ids;
  private failures = 0;
  private inRow = 0;
  private refusedInRow = 0;
  private lost = 0;

  constructor(ids: Ids) {
    this.ids = ids;
  }

  decide(attempt: FailedAttempt): RetryDecision {
    this.failures++;
    this.inRow = attempt.lasted >= limits.retryHealthy ? 1 : this.inRow + 1;
    this.refusedInRow = attempt.refused ? this.refusedInRow + 1 : 0;
    if (!attempt.failure.error.retryable) return { again: false };
    if (attempt.turnEnded) return { again: false, because: 'the turn was already over' };
    if (attempt.changedSinceCheckpoint) {
      return { again: false, because: 'not tried again, since a tool changed something after the last checkpoint' };
    }
    if (!attempt.everReached && this.failures >= limits.attemptsNeverReached) {
      return { again: false, because: `the server was not reached in ${this.failures} attempts` };
    }
    // A server that went away before it said anything is like one that was never there.
    if (!attempt.hadOutput && this.refusedInRow >= limits.attemptsNeverReached) {
      return { again: false, because: `the server refused the connection ${this.refusedInRow} times` };
    }
    const doubled = Math.min(limits.retryFirst * 2 ** (this.inRow - 1), limits.retryLongest);
    const delayMs = Math.round(Math.max(doubled * (1 + this.ids.random() / 5), attempt.failure.waitMs ?? 0));
    this.lost += attempt.silent + delayMs;
    if (this.lost > limits.retryBudget) {
      return { again: false, because: `given up after ${this.failures} attempts` };
    }
    return { again: true, delayMs };
  }
}
