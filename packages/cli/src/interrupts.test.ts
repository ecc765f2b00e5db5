import { expect, it } from 'vitest';
import { createInterrupts } from './interrupts.ts';

it('stops in order at the first signal and at once at a second one', () => {
  let time = 1_000;
  const interrupts = createInterrupts(() => time);
  interrupts.note();
  expect([interrupts.stop.aborted, interrupts.stopNow.aborted]).toEqual([true, false]);
  time += 250;
  interrupts.note();
  expect(interrupts.stopNow.aborted).toBe(true);
});

it('takes a signal that npm passes on right after the terminal sent it for the same one', () => {
  let time = 1_000;
  const interrupts = createInterrupts(() => time);
  interrupts.note();
  time += 249;
  interrupts.note();
  expect(interrupts.stopNow.aborted).toBe(false);
});
