/**
 * What is done to a conversation at one point. `drop`: the connection breaks. `duplicate`: an append comes again, at once or late.
 * `reorder`: appends come in another order. `delay`: time passes. `close`: the reader goes, and comes back or not. `restart`: the
 * server dies, or is told to go, and another one takes over its store.
 */
export const KINDS = ['drop', 'duplicate', 'reorder', 'delay', 'close', 'restart'] as const;
export type Kind = (typeof KINDS)[number];

/** Where: at a frame on its way down, at an append on its way up, before or after a write to the store. */
export const SIDES = ['down', 'up', 'before', 'after'] as const;
export type Side = (typeof SIDES)[number];

/** How many ways there are to do it; what each is stands where it is done. */
export const VARIANTS: Readonly<Record<Kind, number>> = {
  drop: 3,
  duplicate: 3,
  reorder: 3,
  delay: 2,
  close: 3,
  restart: 3,
};

export interface Cut {
  readonly conversation: string;
  readonly side: Side;
  /** From 0, over the whole conversation. */
  readonly index: number;
  readonly kind: Kind;
  readonly variant: number;
  /** A second cut in what follows the first: its index counts from there. */
  readonly then?: Omit<Cut, 'conversation' | 'then'>;
}

/** `parallel/down/12/drop/0`, a second cut behind a plus: `…+up/3/restart/1`. */
export function cutName({ conversation, then, ...first }: Cut): string {
  const part = ({ side, index, kind, variant }: Omit<Cut, 'conversation' | 'then'>) =>
    `${side}/${index}/${kind}/${variant}`;
  return `${conversation}/${part(first)}${then ? `+${part(then)}` : ''}`;
}

/** @throws Error when it is no name of a cut. */
export function parseCutName(name: string): Cut {
  const [first = '', second] = name.split('+');
  const [conversation = '', ...rest] = first.split('/');
  const part = ([side, index, kind, variant, ...more]: string[]) => {
    const isRight =
      SIDES.includes(side as Side) &&
      KINDS.includes(kind as Kind) &&
      /^\d+$/.test(`${index}${variant}`) &&
      more.length === 0;
    if (!isRight)
      throw new Error(
        `${JSON.stringify(name)} is no cut: expected conversation/side/index/kind/variant, such as parallel/down/12/drop/0`,
      );
    return { side: side as Side, index: Number(index), kind: kind as Kind, variant: Number(variant) };
  };
  return { conversation, ...part(rest), ...(second === undefined ? {} : { then: part(second.split('/')) }) };
}

/** Every single cut of a conversation that has so many points on each side. */
export function cutsOf(conversation: string, points: Readonly<Record<Side, number>>): Cut[] {
  const cuts: Cut[] = [];
  for (const side of SIDES) {
    for (let index = 0; index < points[side]; index++) {
      for (const kind of KINDS) {
        for (let variant = 0; variant < VARIANTS[kind]; variant++)
          cuts.push({ conversation, side, index, kind, variant });
      }
    }
  }
  return cuts;
}

/** So many of them, spread evenly. */
export function spread<T>(all: readonly T[], count: number): T[] {
  if (count >= all.length) return [...all];
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]!);
}

/** Numbers in [0, 1) that follow from a seed alone. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
