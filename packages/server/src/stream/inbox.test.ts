import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { Inbox } from './inbox.ts';

const GRACE = 30_000;

/** An inbox of words: `beat…` does not wait, `run…` may be first of a client that counts from 1. */
function wordInbox(bounds: { maxHeld?: number; maxHeldBytes?: number } = {}) {
  const clock = new ManualClock();
  const delivered: string[] = [];
  const gaps: number[] = [];
  const inbox = new Inbox<string>({
    clock,
    gapGraceMs: GRACE,
    maxHeld: bounds.maxHeld ?? 1000,
    maxHeldBytes: bounds.maxHeldBytes ?? 1_000_000,
    deliver: word => delivered.push(word),
    urgent: word => word.startsWith('beat'),
    starts: word => word.startsWith('run'),
    onGap: missing => gaps.push(missing),
  });
  const push = (seqno: number, message = `m${seqno}`) => inbox.push({ seqno, message, bytes: message.length });
  return { clock, delivered, gaps, inbox, push };
}

/** Every number below `count` once, some of them again, in any order. */
const arrivals = fc.integer({ min: 1, max: 40 }).chain(count =>
  fc
    .array(fc.nat({ max: count - 1 }), { maxLength: 40 })
    .chain(again =>
      fc.shuffledSubarray([...Array.from({ length: count }, (_, at) => at), ...again], {
        minLength: count + again.length,
      }),
    )
    .map(order => ({ count, order })),
);

describe('the inbox', () => {
  it('delivers every message exactly once and in order, whatever order and duplicates they come in', () => {
    fc.assert(
      fc.property(arrivals, ({ count, order }) => {
        const { delivered, push, inbox, gaps, clock } = wordInbox();
        for (const seqno of order) push(seqno);
        expect(delivered).toEqual(Array.from({ length: count }, (_, at) => `m${at}`));
        expect(inbox.next).toBe(count);
        clock.advance(GRACE * 2);
        expect(gaps).toEqual([]);
        expect(clock.pending).toBe(0);
      }),
    );
  });

  it('delivers what must not wait exactly once, and the rest in order', () => {
    fc.assert(
      fc.property(arrivals, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), ({ count, order }, isBeat) => {
        const { delivered, push } = wordInbox();
        const words = Array.from({ length: count }, (_, at) => (isBeat[at] ? `beat${at}` : `m${at}`));
        for (const seqno of order) push(seqno, words[seqno]!);
        expect([...delivered].sort()).toEqual([...words].sort());
        expect(delivered.filter(word => word.startsWith('m'))).toEqual(words.filter(word => word.startsWith('m')));
      }),
    );
  });

  it('never delivers behind a number that is missing, however much comes', () => {
    fc.assert(
      fc.property(arrivals, fc.nat(), ({ count, order }, pick) => {
        const missing = pick % count;
        const { delivered, push, inbox } = wordInbox();
        for (const seqno of order) if (seqno !== missing) push(seqno);
        expect(delivered).toEqual(Array.from({ length: missing }, (_, at) => `m${at}`));
        expect(inbox.next).toBe(missing);
      }),
    );
  });

  it('says what became of each append', () => {
    const { push } = wordInbox();
    expect(push(2)).toBe('held');
    expect(push(2)).toBe('duplicate');
    expect(push(4, 'beat4')).toBe('delivered');
    expect(push(0)).toBe('delivered');
    expect(push(0)).toBe('duplicate');
    expect(push(Number.MAX_SAFE_INTEGER)).toBe('far');
  });

  it('names the missing number once, when it stayed away for the grace time', () => {
    const { clock, gaps, push } = wordInbox();
    push(0);
    push(3);
    clock.advance(GRACE - 1);
    expect(gaps).toEqual([]);
    clock.advance(1);
    expect(gaps).toEqual([1]);
    clock.advance(GRACE * 3);
    expect(gaps).toEqual([1]);
  });

  it('gives each gap its own time', () => {
    const { clock, gaps, push } = wordInbox();
    push(2);
    clock.advance(GRACE - 1);
    push(0);
    clock.advance(GRACE - 1);
    expect(gaps).toEqual([]);
    clock.advance(1);
    expect(gaps).toEqual([1]);
  });

  it('starts no watch for a gap that only heartbeats have passed', () => {
    const { clock, gaps, push, delivered } = wordInbox();
    push(5, 'beat5');
    clock.advance(GRACE * 2);
    expect(gaps).toEqual([]);
    expect(delivered).toEqual(['beat5']);
  });

  it('takes a client that counts from 1, when its first message may be the first', () => {
    const { push, delivered } = wordInbox();
    push(2);
    push(1, 'run');
    expect(delivered).toEqual(['run', 'm2']);
    const other = wordInbox();
    other.push(1);
    expect(other.delivered).toEqual([]);
  });

  it('holds no more messages and no more bytes than it is allowed', () => {
    const few = wordInbox({ maxHeld: 3 });
    expect([2, 3, 4, 5].map(seqno => few.push(seqno))).toEqual(['held', 'held', 'held', 'overflow']);
    const small = wordInbox({ maxHeldBytes: 10 });
    expect(small.push(1, '123456')).toBe('held');
    expect(small.push(2, '123456')).toBe('overflow');
    expect(small.push(2, '1234')).toBe('held');
  });

  it('keeps nothing and delivers nothing once it is closed, and leaves no timer', () => {
    const { clock, gaps, push, inbox, delivered } = wordInbox();
    push(1);
    inbox.close();
    expect(clock.pending).toBe(0);
    expect(push(0)).toBe('duplicate');
    clock.advance(GRACE * 2);
    expect([delivered, gaps]).toEqual([[], []]);
  });

  it('stops in the middle of what it held when a delivery closes it', () => {
    const clock = new ManualClock();
    const delivered: number[] = [];
    const inbox: Inbox<number> = new Inbox<number>({
      clock,
      gapGraceMs: GRACE,
      maxHeld: 10,
      maxHeldBytes: 10,
      deliver: message => {
        delivered.push(message);
        if (message === 1) inbox.close();
      },
      urgent: () => false,
      starts: () => false,
      onGap: () => {},
    });
    for (const seqno of [2, 1, 0]) inbox.push({ seqno, message: seqno, bytes: 1 });
    expect(delivered).toEqual([0, 1]);
    expect(clock.pending).toBe(0);
  });
});
