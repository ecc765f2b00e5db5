import { Fault } from '@tandem/protocol';
import type { Model, ModelEvent, ModelRequest } from './port.ts';
import type { RetryOptions } from './retry.ts';
import { streamWithRetry } from './retry.ts';

/** Failures of a provider that say nothing of the request: another one may well take it. */
const FALLS_BACK: ReadonlySet<string> = new Set([
  'provider_unavailable',
  'provider_silent',
  'provider_rate_limited',
  'provider_credentials',
]);

/**
 * One model call with its retries (R56), and after them the models that stand in, in their order, while nothing was shown. A model
 * that stands in has none of its own.
 *
 * @param onRoute called before a model is asked in the place of the one before it, with what failed there
 * @throws Fault of the last model that was asked
 */
export function streamWithFallback(
  model: Model,
  request: ModelRequest,
  options: RetryOptions,
  onRoute: (next: Model, fault: Fault) => void,
): AsyncGenerator<ModelEvent> {
  const left = (model.fallbacks?.() ?? []).filter(({ info }) => info.key !== model.info.key);
  if (left.length === 0) return streamWithRetry(model, request, options);
  return streamInOrder(model, left, request, options, onRoute);
}

async function* streamInOrder(
  model: Model,
  left: Model[],
  request: ModelRequest,
  options: RetryOptions,
  onRoute: (next: Model, fault: Fault) => void,
): AsyncGenerator<ModelEvent> {
  for (let asked = model; ;) {
    let isShown = false;
    try {
      for await (const event of streamWithRetry(asked, request, options)) {
        isShown = true;
        yield event;
      }
      return;
    } catch (error) {
      const next = left.shift();
      if (isShown || next === undefined || !(error instanceof Fault) || !FALLS_BACK.has(error.name_)) throw error;
      onRoute(next, error);
      asked = next;
    }
  }
}
