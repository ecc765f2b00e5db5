import { fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import type { Limits } from '../config/limits.ts';
import type { Model, ModelEvent, ModelRequest } from './port.ts';

/** The bounds of the config that a model call is held to. */
export type CallLimits = Pick<Limits, 'providerFirstTokenSeconds' | 'providerIdleSeconds' | 'providerAttempts'>;

/**
 * One model call that fails with `provider_silent` when the provider shows no sign of life for too long, and that ends at
 * once when the signal aborts, whatever the provider does. Time in which the reader of the events is busy does not count.
 */
export async function* watchSilence(
  model: Model,
  request: ModelRequest,
  clock: Clock,
  limits: CallLimits,
): AsyncGenerator<ModelEvent> {
  const abort = new AbortController();
  let hasBegun = false;
  let isOver = false;
  /** When the wait for a sign of life began; undefined while nobody waits. */
  let waitsSince: number | undefined;
  let cancelTimer: (() => void) | undefined;
  let failWait: (error: unknown) => void = () => {};

  const patienceMs = () => (hasBegun ? limits.providerIdleSeconds : limits.providerFirstTokenSeconds) * 1000;
  // one timer for many events: when it rings it looks for how long there really was silence, and waits for the rest
  const look = (inMs: number) => {
    cancelTimer = clock.after(inMs, () => {
      cancelTimer = undefined;
      if (waitsSince === undefined) return;
      const left = waitsSince + patienceMs() - clock.now();
      if (left > 0) return look(left);
      const when = hasBegun ? 'in the middle of its answer' : 'before its answer began';
      failWait(
        fault(
          'provider_silent',
          `${model.info.provider} sent nothing for ${patienceMs() / 1000} seconds ${when} (model ${model.info.id}).`,
          { retryable: true },
        ),
      );
    });
  };
  const begin = () => {
    waitsSince = clock.now();
    if (!cancelTimer) look(patienceMs());
  };
  const onAbort = () => failWait(request.signal.reason);
  const onActivity = () => {
    if (isOver) return;
    request.onActivity?.();
    if (waitsSince !== undefined) waitsSince = clock.now();
  };

  request.signal.throwIfAborted();
  request.signal.addEventListener('abort', onAbort, { once: true });
  const events = model
    .stream({ ...request, signal: AbortSignal.any([request.signal, abort.signal]), onActivity })
    [Symbol.asyncIterator]();
  try {
    for (;;) {
      request.signal.throwIfAborted();
      const failed = new Promise<never>((_, reject) => (failWait = reject));
      begin();
      const step = await Promise.race([events.next(), failed]);
      waitsSince = undefined;
      if (step.done) return;
      if (!hasBegun) {
        hasBegun = true;
        cancelTimer?.(); // it was set for another patience
        cancelTimer = undefined;
      }
      yield step.value;
    }
  } finally {
    isOver = true;
    cancelTimer?.();
    request.signal.removeEventListener('abort', onAbort);
    abort.abort();
    // The provider's side is told and not waited for: it may be the one that hangs. Its late failure says nothing new.
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
}
