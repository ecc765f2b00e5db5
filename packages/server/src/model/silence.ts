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
  let cancelTimer = () => {};
  let failWait: (error: unknown) => void = () => {};

  const wait = () => {
    cancelTimer();
    const seconds = hasBegun ? limits.providerIdleSeconds : limits.providerFirstTokenSeconds;
    cancelTimer = clock.after(seconds * 1000, () => {
      const when = hasBegun ? 'in the middle of its answer' : 'before its answer began';
      failWait(
        fault(
          'provider_silent',
          `${model.info.provider} sent nothing for ${seconds} seconds ${when} (model ${model.info.id}).`,
          {
            retryable: true,
          },
        ),
      );
    });
  };
  const onAbort = () => failWait(request.signal.reason);
  const onActivity = () => {
    if (isOver) return;
    request.onActivity?.();
    wait();
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
      wait();
      const step = await Promise.race([events.next(), failed]);
      cancelTimer();
      if (step.done) return;
      hasBegun = true;
      yield step.value;
    }
  } finally {
    isOver = true;
    cancelTimer();
    request.signal.removeEventListener('abort', onAbort);
    abort.abort();
    // The provider's side is told and not waited for: it may be the one that hangs. Its late failure says nothing new.
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
}
