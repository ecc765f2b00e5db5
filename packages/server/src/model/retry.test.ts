import type { Fault } from '@tandem/protocol';
import { fault } from '@tandem/protocol';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import type { Model, ModelEvent, ModelInfo, ModelRequest } from './port.ts';
import type { Retry } from './retry.ts';
import { streamWithRetry } from './retry.ts';

const INFO: ModelInfo = {
  key: 'p/m',
  provider: 'p',
  id: 'm',
  name: 'M',
  contextWindow: 1,
  maxOutput: 1,
  vision: false,
  aliases: [],
  parameters: [],
};
const FINISH: ModelEvent = { type: 'finish', reason: 'stop', usage: {} };
const down = (info?: Record<string, string>) =>
  fault('provider_unavailable', 'down', { retryable: true, ...(info && { additionalInfo: info }) });

/** A clock whose timers run when the test says so; `waits` are the timers that were started. */
function handClock() {
  let now = 0;
  const timers = new Set<{ at: number; call: () => void }>();
  const waits: number[] = [];
  const clock: Clock = {
    now: () => now,
    after(ms, call) {
      const timer = { at: now + ms, call };
      waits.push(ms);
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const advance = async (ms: number) => {
    now += ms;
    for (const timer of [...timers]) {
      if (timer.at > now) continue;
      timers.delete(timer);
      timer.call();
    }
    await settle();
  };
  return { clock, advance, waits, timers };
}
const settle = () => new Promise<void>(resolve => setImmediate(resolve));

type Step = ModelEvent | Error | 'hang' | 'alive';
/** A model whose calls do what the scripts say, one script a call. */
function scripted(...scripts: Step[][]): Model & { calls: number } {
  return {
    info: INFO,
    calls: 0,
    async *stream(request: ModelRequest) {
      for (const step of scripts[this.calls++] ?? []) {
        if (step instanceof Error) throw step;
        if (step === 'hang') await new Promise(() => {});
        else if (step === 'alive') request.onActivity?.();
        else yield step;
      }
    },
  };
}

const text = (value: string): ModelEvent => ({ type: 'text', text: value });
const LIMITS = { providerFirstTokenSeconds: 10, providerIdleSeconds: 5, providerAttempts: 4 };

async function run(model: Model, signal = new AbortController().signal) {
  const hand = handClock();
  const retries: Retry[] = [];
  const events: ModelEvent[] = [];
  const request = { messages: [], tools: [], parameters: {}, signal };
  const options = {
    clock: hand.clock,
    identity: { random: () => 0 },
    limits: LIMITS,
    onRetry: (retry: Retry) => retries.push(retry),
  };
  const done = (async () => {
    for await (const event of streamWithRetry(model, request, options)) events.push(event);
  })().then(
    () => undefined,
    (error: unknown) => error as Fault,
  );
  await settle();
  return { ...hand, retries, events, done };
}

describe('a model call', () => {
  test('is tried again after 0.5, 1 and 2 s while nothing was shown, four times in all [R56]', async () => {
    const model = scripted([down()], [down()], [down()], [down()], [FINISH]);
    const { advance, done, retries } = await run(model);
    for (const ms of [500, 1000, 2000]) await advance(ms);
    const failure = await done;
    expect(model.calls).toBe(4);
    expect(retries.map(retry => [retry.attempt, retry.delayMs])).toEqual([
      [2, 500],
      [3, 1000],
      [4, 2000],
    ]);
    expect(failure).toMatchObject({ name_: 'provider_unavailable', retryable: true });
    expect(failure!.detail).toBe('down\n4 tries failed.');
  });

  test('that works at its second try gives what came then', async () => {
    const { advance, done, events } = await run(scripted([down()], [text('a'), FINISH]));
    await advance(499);
    expect(events).toEqual([]);
    await advance(1);
    expect(await done).toBeUndefined();
    expect(events).toEqual([text('a'), FINISH]);
  });

  test('waits as long as the provider asks for', async () => {
    const model = scripted([down({ retry_after_seconds: '3' })], [FINISH]);
    const { advance, done } = await run(model);
    await advance(2_999);
    expect(model.calls).toBe(1);
    await advance(1);
    expect(await done).toBeUndefined();
  });

  test('ends at once when the provider asks for more than 20 s, with the wait', async () => {
    const limited = fault('provider_rate_limited', 'wait', {
      retryable: true,
      additionalInfo: { retry_after_seconds: '21' },
    });
    const { done, retries } = await run(scripted([limited]));
    expect(await done).toMatchObject({
      name_: 'provider_rate_limited',
      retryable: false,
      additionalInfo: { retry_after_seconds: '21' },
    });
    expect(retries).toEqual([]);
  });

  test.each<[string, ModelEvent]>([
    ['text', text('a')],
    ['reasoning', { type: 'reasoning', text: 'a' }],
    ['a call', { type: 'tool-start', key: '0', providerId: 'x', name: 'Read' }],
  ])('is not tried again once %s was shown [R56]', async (_, event) => {
    const model = scripted([event, down()], [FINISH]);
    const { done, events } = await run(model);
    expect(await done).toMatchObject({ name_: 'provider_broke_off', code: 'unavailable', retryable: false });
    expect(events).toEqual([event]);
    expect(model.calls).toBe(1);
  });

  test('is not tried again when another try cannot help', async () => {
    const model = scripted([fault('provider_credentials', 'bad key')], [FINISH]);
    expect(await (await run(model)).done).toMatchObject({ name_: 'provider_credentials', retryable: false });
    expect(model.calls).toBe(1);
  });

  test('that ends before it began is tried again', async () => {
    const model = scripted(
      [{ type: 'finish', reason: 'missing', usage: {} }],
      [text('a'), { type: 'finish', reason: 'missing', usage: {} }],
    );
    const { advance, done, events } = await run(model);
    await advance(500);
    expect(await done).toBeUndefined();
    expect(events.map(event => event.type)).toEqual(['text', 'finish']);
  });

  test('has no cause of a bug in its text', async () => {
    const failure = await (await run(scripted([new Error('secret path /home/x')]))).done;
    expect(failure).toMatchObject({ name_: 'internal' });
    expect(failure!.detail).not.toContain('secret');
  });
});

describe('silence', () => {
  test('before the first word is a failure after its own time, and is tried again', async () => {
    const model = scripted(['hang'], [FINISH]);
    const { advance, done, retries } = await run(model);
    await advance(9_999);
    expect(retries).toEqual([]);
    await advance(1);
    expect(retries[0]?.fault).toMatchObject({ name_: 'provider_silent', code: 'unavailable' });
    await advance(500);
    expect(await done).toBeUndefined();
  });

  test('in the middle of an answer is a failure after its own time, and is final', async () => {
    const { advance, done } = await run(scripted([text('a'), 'hang']));
    await advance(5_000);
    const failure = await done;
    expect(failure).toMatchObject({ name_: 'provider_silent', retryable: false });
    expect(failure!.detail).toContain('5 seconds in the middle');
  });

  test('is not what a provider keeps that sends comments', async () => {
    const alive = Promise.withResolvers<void>();
    let comment = () => {};
    const model: Model = {
      info: INFO,
      async *stream(request) {
        comment = () => request.onActivity?.();
        await alive.promise;
        yield FINISH;
      },
    };
    const { advance, done, retries } = await run(model);
    for (let i = 0; i < 3; i++) {
      await advance(9_999);
      comment();
    }
    await advance(9_999);
    alive.resolve();
    expect(await done).toBeUndefined();
    expect(retries).toEqual([]);
  });

  test('leaves no timer behind', async () => {
    const { done, timers } = await run(scripted([text('a'), FINISH]));
    await done;
    expect(timers.size).toBe(0);
  });
});

describe('an abort', () => {
  test('ends a call whose model does not listen, with its reason', async () => {
    const abort = new AbortController();
    const { done } = await run(scripted(['hang']), abort.signal);
    const reason = new Error('cancelled');
    abort.abort(reason);
    expect(await done).toBe(reason);
  });

  test('ends the wait for the next try', async () => {
    const abort = new AbortController();
    const model = scripted([down()], [FINISH]);
    const { done, advance } = await run(model, abort.signal);
    abort.abort(new Error('cancelled'));
    expect(await done).toMatchObject({ message: 'cancelled' });
    await advance(60_000);
    expect(model.calls).toBe(1);
  });
});
