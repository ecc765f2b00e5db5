import { expect, it } from 'vitest';
import { AttemptFailure, connectionFailure } from './failure.ts';
import { Retry } from './retry.ts';
import type { FailedAttempt } from './retry.ts';

const failed = (more: Partial<FailedAttempt> = {}): FailedAttempt => ({
  failure: connectionFailure('Cut', 'cut'),
  turnEnded: false,
  changedSinceCheckpoint: false,
  everReached: true,
  refused: false,
  hadOutput: true,
  lasted: 10,
  silent: 0,
  ...more,
});
const without = { uuid: () => 'id', random: () => 0 };
const withChance = { uuid: () => 'id', random: () => 0.999 };

it('waits about a second at first, twice as long each time, and at most half a minute', () => {
  const retry = new Retry(without);
  const delays = Array.from({ length: 7 }, () => retry.decide(failed())).map(one => (one.again ? one.delayMs : 'no'));
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

it('adds up to a fifth by chance', () => {
  expect(new Retry(withChance).decide(failed())).toEqual({ again: true, delayMs: 1_200 });
});

it('begins with a second again after an attempt that worked for a minute', () => {
  const retry = new Retry(without);
  retry.decide(failed());
  retry.decide(failed());
  expect(retry.decide(failed({ lasted: 60_000 }))).toEqual({ again: true, delayMs: 1_000 });
});

it('gives up once four minutes are lost, silence and waits together', () => {
  const retry = new Retry(without);
  let attempts = 0;
  let lost = 0;
  for (;;) {
    const decision = retry.decide(failed({ silent: 30_000 }));
    if (!decision.again) break;
    attempts++;
    lost += 30_000 + decision.delayMs;
  }
  expect(lost).toBeLessThanOrEqual(240_000);
  expect(attempts).toBe(5);
});

it('waits as long as the server asks', () => {
  const { error } = connectionFailure('Busy', 'busy');
  expect(new Retry(without).decide(failed({ failure: new AttemptFailure(error, { waitMs: 40_000 }) }))).toEqual({
    again: true,
    delayMs: 40_000,
  });
});

it('does not try again what is not retryable, was over, or changed something unseen', () => {
  const { error } = connectionFailure('No', 'no');
  const final = new AttemptFailure({ ...error, retryable: false });
  expect(new Retry(without).decide(failed({ failure: final }))).toEqual({ again: false });
  expect(new Retry(without).decide(failed({ turnEnded: true })).again).toBe(false);
  expect(new Retry(without).decide(failed({ changedSinceCheckpoint: true })).again).toBe(false);
});

it('tries three times to reach a server that never answered', () => {
  const retry = new Retry(without);
  const decisions = Array.from({ length: 3 }, () => retry.decide(failed({ everReached: false })).again);
  expect(decisions).toEqual([true, true, false]);
});

it('[product-refused-without-output] tries three times where the server has gone before it said anything', () => {
  const decide = (attempts: Partial<FailedAttempt>[]) => {
    const retry = new Retry(without);
    return attempts.map(attempt => retry.decide(failed(attempt)).again);
  };
  const gone = { refused: true, hadOutput: false };
  expect(decide([{ hadOutput: false }, gone, gone, gone])).toEqual([true, true, true, false]);
  expect(decide([gone, gone, { hadOutput: false }, gone, gone])).toEqual([true, true, true, true, true]);
  expect(decide(Array.from({ length: 5 }, () => ({ refused: true })))).toEqual([true, true, true, true, true]);
});
