import { Fault, fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import { pause } from '../clock.ts';
import { DEFAULT_LIMITS } from '../config/limits.ts';
import type { Identity } from '../identity.ts';
import { FIRST_RETRY_MS, LONGEST_RETRY_AFTER_MS, LONGEST_RETRY_MS } from './limits.ts';
import type { Model, ModelEvent, ModelRequest } from './port.ts';
import type { CallLimits } from './silence.ts';
import { UNREACHABLE_INFO } from './provider-fault.ts';
import { watchSilence } from './silence.ts';

export type { CallLimits } from './silence.ts';

/** A try that failed and will be repeated. */
export interface Retry {
  /** The try that comes, from 2. */
  readonly attempt: number;
  readonly attempts: number;
  readonly delayMs: number;
  readonly fault: Fault;
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'random'>;
  readonly limits?: CallLimits;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/**
 * One model call, tried again while nothing of it was shown and another try could help (R56): at most four times in all, after
 * growing waits or the one that the provider asks for. A wait longer than we hold a turn for ends it at once, with the wait in
 * the fault. Silence before and inside an answer is bounded.
 *
 * @throws Fault that is retryable only when nothing was shown and the cause is transport or overload (R54); the signal's reason
 * once the signal aborted.
 */
export async function* streamWithRetry(
  model: Model,
  request: ModelRequest,
  options: RetryOptions,
): AsyncGenerator<ModelEvent> {
  const { clock, identity, limits = DEFAULT_LIMITS, onRetry } = options;
  const attempts = limits.providerAttempts;
  for (let attempt = 1; ; attempt++) {
    let isShown = false;
    try {
      for await (const event of watchSilence(model, request, clock, limits)) {
        if (!isShown && event.type === 'finish' && event.reason === 'missing') throw endedEmpty(model);
        isShown = true;
        yield event;
      }
      return;
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      const failure = Fault.from(error);
      if (isShown) throw afterOutput(failure, model);
      const delayMs = delayBefore(attempt, failure, identity);
      if (!failure.retryable) throw failure;
      if (attempt >= attempts || delayMs > LONGEST_RETRY_AFTER_MS) throw afterTries(failure, attempt);
      onRetry?.({ attempt: attempt + 1, attempts, delayMs, fault: failure });
      await pause(clock, delayMs, request.signal);
    }
  }
}

/**
 * The wait after a failed try: what the provider asked for, else 0.5 s doubled up to 8 s, of which a random half is taken off
 * so that many turns do not come back at one moment.
 */
function delayBefore(failedAttempt: number, failure: Fault, identity: Pick<Identity, 'random'>): number {
  const asked = Number(failure.additionalInfo['retry_after_seconds']);
  if (failure.additionalInfo['retry_after_seconds'] !== undefined && Number.isFinite(asked))
    return Math.max(0, asked * 1000);
  const longest = Math.min(FIRST_RETRY_MS * 2 ** (failedAttempt - 1), LONGEST_RETRY_MS);
  return Math.round(longest * (1 - identity.random() / 2));
}

/** After output nothing is repeated, by us or by a client: the person has read the beginning. */
function afterOutput(failure: Fault, model: Model): Fault {
  const options = { retryable: false, additionalInfo: failure.additionalInfo, cause: failure };
  if (failure.name_ === 'provider_unavailable') return fault('provider_broke_off', failure.detail, options);
  if (failure.name_ === 'internal') return failure;
  if (!failure.retryable) return failure;
  return fault(failure.name_, `${failure.detail}\nThe answer of ${model.info.name} is incomplete.`, options);
}

/** An answer that ended before it began is a broken connection, whatever its status was. */
function endedEmpty(model: Model): Fault {
  const detail = `${model.info.provider} ended the answer of the model ${model.info.id} before it began.`;
  return fault('provider_unavailable', detail, { retryable: true });
}

/**
 * A client may replay the turn after an overload, but not after a rate limit, since it would not wait as it is asked to, and not
 * when nobody was there at all: only a person can mend that.
 */
function afterTries(failure: Fault, tries: number): Fault {
  const detail = tries > 1 ? `${failure.detail}\n${tries} tries failed.` : failure.detail;
  const retryable = failure.name_ !== 'provider_rate_limited' && failure.additionalInfo[UNREACHABLE_INFO] === undefined;
  return fault(failure.name_, detail, { retryable, additionalInfo: failure.additionalInfo, cause: failure });
}
