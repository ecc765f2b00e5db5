import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { BREAKER_FAILURES, BREAKER_MS } from './limits.ts';
import { ProviderGate } from './provider-gate.ts';

/** A fetch that answers when told to, and the calls that have reached it. */
function heldFetch() {
  const calls: { url: string; answer: (status: number) => void; fail: (error: Error) => void }[] = [];
  const fetch = (url: string) =>
    new Promise<Response>((resolve, reject) => {
      calls.push({ url, answer: status => resolve(new Response('x', { status })), fail: reject });
    });
  return { calls, fetch };
}

const turn = () => new Promise(resolve => setImmediate(resolve));

test('[product-provider-concurrency] further calls wait for a place, the first that came first', async () => {
  const { calls, fetch } = heldFetch();
  const guarded = new ProviderGate(new ManualClock(), 2).guard(fetch);
  const aborts = ['a', 'b', 'c', 'd'].map(name => {
    const abort = new AbortController();
    guarded(name, { signal: abort.signal }).catch(() => undefined);
    return abort;
  });
  await turn();
  expect(calls.map(({ url }) => url)).toEqual(['a', 'b']);
  calls[0]?.answer(200);
  await turn();
  expect(calls).toHaveLength(2); // its answer is still being read
  aborts[2]?.abort(); // given up while it waited: no place is lost
  aborts[0]?.abort();
  await turn();
  expect(calls.map(({ url }) => url)).toEqual(['a', 'b', 'd']);
  aborts[1]?.abort();
  aborts[3]?.abort();
});

test('[product-provider-concurrency] a place that was handed to a call which gives up at that moment goes to the next', async () => {
  const { calls, fetch } = heldFetch();
  const guarded = new ProviderGate(new ManualClock(), 1).guard(fetch);
  const [holder, waiter] = [new AbortController(), new AbortController()];
  void guarded('holder', { signal: holder.signal });
  const waits = guarded('waiter', { signal: waiter.signal }).catch((error: Error) => error.message);
  await turn();
  holder.abort();
  waiter.abort(new Error('superseded too')); // before the place it just got is used
  expect(await waits).toBe('superseded too');
  void guarded('another', { signal: new AbortController().signal });
  await turn();
  expect(calls.map(({ url }) => url)).toEqual(['holder', 'another']);
});

test('[product-provider-concurrency] a call that asks twice needs one place', async () => {
  const { calls, fetch } = heldFetch();
  const guarded = new ProviderGate(new ManualClock(), 1).guard(fetch);
  const { signal } = new AbortController();
  for (const name of ['once', 'again']) void guarded(name, { signal });
  await turn();
  void guarded('another', { signal: new AbortController().signal });
  await turn();
  expect(calls.map(({ url }) => url)).toEqual(['once', 'again']);
});

test('[product-provider-breaker] a provider that is broken call after call is left alone, then tried by one', async () => {
  const clock = new ManualClock();
  const { calls, fetch } = heldFetch();
  const guarded = new ProviderGate(clock).guard(fetch);
  const call = () =>
    guarded('x', {}).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
  const settle = async (how: (call: (typeof calls)[number]) => void) => {
    const ended = call();
    how(calls.at(-1) as (typeof calls)[number]);
    return ended;
  };
  for (let at = 1; at < BREAKER_FAILURES; at++) await settle(({ answer }) => answer(503));
  await settle(({ answer }) => answer(429)); // busy is not broken
  for (let at = 0; at < BREAKER_FAILURES; at++) await settle(({ fail }) => fail(new Error('refused')));
  const reached = calls.length;
  expect(await call()).toBe('its last 10 calls failed, so it is left alone for 10 more seconds');
  clock.advance(BREAKER_MS - 1);
  expect(await call()).toContain('for 1 more second');
  expect(calls).toHaveLength(reached);

  clock.advance(1);
  const probe = call();
  expect(await call()).toContain('is left alone');
  expect(calls).toHaveLength(reached + 1);
  calls.at(-1)?.answer(200);
  expect(await probe).toBe(200);
  expect(await settle(({ answer }) => answer(200))).toBe(200);
});

test('a call that was given up says nothing of its provider', async () => {
  const { calls, fetch } = heldFetch();
  const guarded = new ProviderGate(new ManualClock()).guard(fetch);
  for (let at = 0; at < BREAKER_FAILURES * 2; at++) {
    const abort = new AbortController();
    const ended = guarded('x', { signal: abort.signal }).catch(() => 'given up');
    abort.abort();
    calls.at(-1)?.fail(new Error('aborted'));
    expect(await ended).toBe('given up');
  }
});
