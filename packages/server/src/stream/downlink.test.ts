import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Downlink } from './downlink.ts';
import type { FrameSink } from './downlink.ts';
import type { Frame } from './frame.ts';

/** Lets everything run that this turn of the event loop put off. */
const turnOfTheLoop = () => new Promise<void>(resolve => setImmediate(resolve));

/** A reader in the hands of the test: it takes writes, and says that they are out when it is told to. */
class HandSink implements FrameSink {
  /** Frames that left the process. */
  readonly written: number[] = [];
  readonly writes: number[] = [];
  isEnded = false;
  isFull = false;
  isDropped = false;
  #pending: { frames: readonly Frame[]; written: () => void }[] = [];
  #onDrain = () => {};

  write(frames: readonly Frame[], written: () => void): boolean {
    this.writes.push(frames.length);
    this.#pending.push({ frames, written });
    return !this.isFull;
  }
  end(): void {
    this.isEnded = true;
  }
  drop(): void {
    this.isDropped = true;
  }
  onDrain(call: () => void): void {
    this.#onDrain = call;
  }
  /** The oldest `count` writes are out. */
  complete(count = Number.POSITIVE_INFINITY): void {
    for (const { frames, written } of this.#pending.splice(0, count)) {
      for (const frame of frames) this.written.push(numberOf(frame));
      written();
    }
  }
  drain(): void {
    this.#onDrain();
  }
}

const frameOf = (number: number): Frame => Uint8Array.of(number >> 8, number & 255);
const numberOf = (frame: Frame): number => (frame[0]! << 8) | frame[1]!;
const newDownlink = (pauseBytes = 1_000_000) => new Downlink({ now: () => 0, pauseBytes });

type Step =
  | { append: number }
  | { attach: boolean }
  | { detach: number }
  | { complete: number }
  | { drain: true }
  | { tick: true };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ append: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ attach: fc.boolean() }),
  fc.record({ detach: fc.nat({ max: 5 }) }),
  fc.record({ complete: fc.integer({ min: 1, max: 3 }) }),
  fc.constant<Step>({ drain: true }),
  fc.constant<Step>({ tick: true }),
);

describe('the downlink', () => {
  it('[R19-reconnect-in-order] hands over every frame in order and none twice, however readers come, go and stall', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
        const downlink = newDownlink();
        const readers: { sink: HandSink; detach: () => void }[] = [];
        const written: number[] = [];
        let appended = 0;
        const complete = (sink: HandSink, count?: number) => {
          const before = sink.written.length;
          sink.complete(count);
          // what a reader takes after it lost the stream is its own: the frames are given to the next one
          if (readers.at(-1)?.sink === sink && downlink.hasReader) written.push(...sink.written.slice(before));
        };
        for (const one of steps) {
          if ('append' in one) for (let count = 0; count < one.append; count++) downlink.append(frameOf(appended++));
          else if ('attach' in one) {
            const sink = new HandSink();
            sink.isFull = one.attach;
            readers.push({ sink, detach: downlink.attach(sink) });
          } else if ('detach' in one) readers.at(-1 - one.detach)?.detach();
          else if ('complete' in one) {
            const current = readers.at(-1);
            if (current) complete(current.sink, one.complete);
          } else if ('drain' in one) readers.at(-1)?.sink.drain();
          else await turnOfTheLoop();
        }
        const last = new HandSink();
        readers.push({ sink: last, detach: downlink.attach(last) });
        downlink.end(frameOf(appended++));
        await turnOfTheLoop();
        complete(last);
        expect(written).toEqual(Array.from({ length: appended }, (_, at) => at));
        expect(last.isEnded).toBe(true);
        expect(downlink.isDone).toBe(true);
        expect(downlink.pendingBytes).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it('writes what one turn of the event loop appends in one piece', async () => {
    const downlink = newDownlink();
    const sink = new HandSink();
    downlink.attach(sink);
    for (let number = 0; number < 5; number++) downlink.append(frameOf(number));
    expect(sink.writes).toEqual([]);
    await turnOfTheLoop();
    expect(sink.writes).toEqual([5]);
  });

  it('leaves a reader alone that is full until it has drained', async () => {
    const downlink = newDownlink();
    const sink = new HandSink();
    sink.isFull = true;
    downlink.attach(sink);
    downlink.append(frameOf(1));
    await turnOfTheLoop();
    downlink.append(frameOf(2));
    await turnOfTheLoop();
    expect(sink.writes).toEqual([1]);
    sink.drain();
    await turnOfTheLoop();
    expect(sink.writes).toEqual([1, 1]);
  });

  it('asks the model to wait from the bound on, and lets it go on once the reader has caught up', async () => {
    const downlink = newDownlink(4);
    const sink = new HandSink();
    downlink.attach(sink);
    downlink.append(frameOf(1));
    expect(downlink.ready()).toBeUndefined();
    downlink.append(frameOf(2));
    const wait = downlink.ready();
    let isOver = false;
    void wait?.then(() => (isOver = true));
    await turnOfTheLoop();
    expect(isOver).toBe(false);
    sink.complete();
    await wait;
    expect(downlink.ready()).toBeUndefined();
  });

  it('keeps nobody waiting for a reader once the stream has ended', async () => {
    const downlink = newDownlink(4);
    downlink.append(frameOf(1));
    downlink.append(frameOf(2));
    const wait = downlink.ready();
    expect(wait).toBeInstanceOf(Promise);
    downlink.end(frameOf(3));
    await wait;
    expect(downlink.ready()).toBeUndefined();
  });

  it('[F7-late-close-harmless] ignores the late close, the late write and the late drain of a reader that lost the stream', async () => {
    const downlink = newDownlink();
    const [old, young] = [new HandSink(), new HandSink()];
    const detachOld = downlink.attach(old);
    downlink.append(frameOf(1));
    await turnOfTheLoop();
    downlink.attach(young);
    expect([old.isDropped, young.isDropped]).toEqual([true, false]);
    old.complete();
    old.drain();
    detachOld();
    expect(downlink.hasReader).toBe(true);
    await turnOfTheLoop();
    young.complete();
    expect(young.written).toEqual([1]);
    downlink.append(frameOf(2));
    await turnOfTheLoop();
    young.complete();
    expect(young.written).toEqual([1, 2]);
  });

  it('takes nothing behind the last frame', async () => {
    const downlink = newDownlink();
    const sink = new HandSink();
    downlink.attach(sink);
    downlink.end(frameOf(1));
    downlink.append(frameOf(2));
    downlink.end(frameOf(3));
    await turnOfTheLoop();
    sink.complete();
    expect(sink.written).toEqual([1]);
    expect(sink.isEnded).toBe(true);
  });

  it('tells once, when everything has left the process', async () => {
    const downlink = newDownlink();
    const sink = new HandSink();
    let done = 0;
    downlink.onDone(() => done++);
    downlink.attach(sink);
    downlink.end(frameOf(1));
    await turnOfTheLoop();
    expect(done).toBe(0);
    sink.complete();
    expect(done).toBe(1);
    downlink.onDone(() => done++);
    expect(done).toBe(2);
  });
});
