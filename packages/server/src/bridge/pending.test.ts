import { describe, expect, it } from 'vitest';
import { StandingClock } from '../../test/recorded-outbox.ts';
import { PendingTable } from './pending.ts';

const table = () => {
  const clock = new StandingClock();
  const expired: string[] = [];
  const pending = new PendingTable<string>(clock);
  const ask = (value: string, waitMs = 100, maxMs = 1_000) =>
    pending.open(value, { waitMs, maxMs }, () => expired.push(value));
  return { clock, expired, pending, ask };
};

describe('open questions', () => {
  it('have numbers from 1 that only grow, also when earlier ones are closed (R14)', () => {
    const { pending, ask } = table();
    expect([ask('a').id, ask('b').id]).toEqual([1, 2]);
    pending.close(2);
    expect(ask('c').id).toBe(3);
    expect([pending.get(1)?.value, pending.get(2), pending.get(0), pending.size]).toEqual([
      'a',
      undefined,
      undefined,
      2,
    ]);
  });

  it('expire at their deadline, once, and are gone by then (R18)', () => {
    const { clock, expired, pending, ask } = table();
    ask('a', 100);
    ask('b', 200);
    clock.advance(99);
    expect(expired).toEqual([]);
    clock.advance(1);
    expect([expired, pending.size]).toEqual([['a'], 1]);
    clock.advance(10_000);
    expect([expired, pending.size, clock.pending]).toEqual([['a', 'b'], 0, 0]);
  });

  it('live on with every sign of life, each for itself, but not beyond their longest time (R17)', () => {
    const { clock, expired, ask } = table();
    const beating = ask('beating', 100, 250);
    ask('silent', 100, 250);
    clock.advance(90);
    beating.renew();
    clock.advance(90);
    expect(expired).toEqual(['silent']);
    beating.renew();
    clock.advance(69);
    beating.renew();
    expect(expired).toEqual(['silent']);
    clock.advance(1);
    expect(expired).toEqual(['silent', 'beating']);
  });

  it('are renewed all at once', () => {
    const { clock, expired, pending, ask } = table();
    ask('a');
    ask('b');
    clock.advance(99);
    pending.renewAll();
    clock.advance(99);
    expect(expired).toEqual([]);
  });

  it('can have their deadline replaced, with another end', () => {
    const { clock, expired, ask } = table();
    ask('a').shorten(10, () => expired.push('shortened'));
    clock.advance(10_000);
    expect(expired).toEqual(['shortened']);
  });

  it('say whether they were still open when they are closed, and nothing happens to them afterwards', () => {
    const { clock, expired, pending, ask } = table();
    const one = ask('a');
    expect([pending.close(1), pending.close(1), pending.close(7)]).toEqual([true, false, false]);
    one.renew();
    one.shorten(1, () => expired.push('never'));
    clock.advance(10_000);
    expect([expired, clock.pending]).toEqual([[], 0]);
  });

  it('are all told when the table is drained, and those that are asked meanwhile stay', () => {
    const { clock, pending, ask } = table();
    ask('a');
    ask('b');
    const told: string[] = [];
    pending.drain(({ value }) => {
      told.push(value);
      if (value === 'a') ask('asked meanwhile');
    });
    expect([told, pending.size, clock.pending]).toEqual([['a', 'b'], 1, 1]);
  });
});
