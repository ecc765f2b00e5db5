/** Chance that comes out the same for the same seed. */
export interface Dice {
  /** A whole number from 0 up to, not including, `below`. */
  roll(below: number): number;
  /** Whether it happens, once in `in_` times. */
  once(in_: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** Mulberry32: 32 bits of state, fast, and good enough to choose mutations. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const roll = (below: number) => next() % below;
  return { roll, once: in_ => roll(in_) === 0, pick: from => from[roll(from.length)]! };
}
