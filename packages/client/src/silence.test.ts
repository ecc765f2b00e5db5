import { expect, it } from 'vitest';
import { ManualClock } from '../test/clocks.ts';
import { Silence } from './silence.ts';

function watch() {
  const clock = new ManualClock();
  const seen = { silent: 0 };
  const silence = new Silence(clock, 30_000, () => seen.silent++);
  return { clock, silence, seen };
}

it('[R17-silence-given-up] is noticed after 30 s without a frame, and only once', () => {
  const { clock, seen } = watch();
  clock.pass(29_999);
  expect(seen.silent).toBe(0);
  clock.pass(1);
  expect(seen.silent).toBe(1);
  clock.pass(120_000);
  expect(seen.silent).toBe(1);
});

it('begins anew with each frame', () => {
  const { clock, silence, seen } = watch();
  for (let frame = 0; frame < 10; frame++) {
    clock.pass(29_000);
    silence.touch();
  }
  expect(seen.silent).toBe(0);
  clock.pass(30_000);
  expect(seen.silent).toBe(1);
});

it('[S01-watchdog-pauses] does not count while it is held, and starts anew with the last release', () => {
  const { clock, silence, seen } = watch();
  silence.hold();
  silence.hold();
  clock.pass(600_000);
  silence.release();
  clock.pass(600_000);
  silence.release();
  clock.pass(29_999);
  expect(seen.silent).toBe(0);
  clock.pass(1);
  expect(seen.silent).toBe(1);
});

it('is never noticed after stop', () => {
  const { clock, silence, seen } = watch();
  silence.stop();
  clock.pass(600_000);
  expect(seen.silent).toBe(0);
});
