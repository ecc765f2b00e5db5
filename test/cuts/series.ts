import { conversations } from './conversations/all.ts';
import { KINDS, SIDES, VARIANTS, cutName, cutsOf, seededRandom, spread } from './cut.ts';
import type { Cut, Kind } from './cut.ts';
import { play } from './play.ts';
import type { Played } from './played.ts';

/** Kinds after which the client tries anew, so that a second cut meets a resumed run. */
const BREAKING = new Set<Kind>(['drop', 'close', 'restart']);
/** How far behind the first cut the second one is: within the attempt that follows. */
const SECOND_WITHIN = 24;

/** The conversations played uncut, by name. @throws Error when one of them does not hold by itself. */
export async function playUncut(): Promise<Map<string, Played>> {
  // the server loads much of itself with its first run, and the clock of that play runs on meanwhile: it does not count
  for (const conversation of conversations.values()) await play(conversation);
  const uncut = new Map<string, Played>();
  for (const [name, conversation] of conversations) {
    const played = await play(conversation);
    if (played.violations.length > 0)
      throw new Error(`${name} does not hold uncut:\n  ${played.violations.join('\n  ')}`);
    uncut.set(name, played);
  }
  return uncut;
}

/** Every single cut of every conversation. */
export function singleCuts(uncut: ReadonlyMap<string, Played>): Cut[] {
  return [...uncut].flatMap(([name, { points }]) => cutsOf(name, points));
}

/** So many pairs of cuts that follow from the seed: one that breaks the attempt, and one in what comes after. */
export function doubleCuts(uncut: ReadonlyMap<string, Played>, count: number, seed: number): Cut[] {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const breaking = singleCuts(uncut).filter(({ kind }) => BREAKING.has(kind));
  return spread(breaking, count).map(first => {
    const kind = pick(KINDS);
    const then = {
      side: pick(SIDES),
      index: Math.floor(random() * SECOND_WITHIN),
      kind,
      variant: Math.floor(random() * VARIANTS[kind]),
    };
    return { ...first, then };
  });
}

/** A cut that did not go well, in words to print: what was wrong and how to play it alone. */
export interface Failure {
  readonly cut: Cut;
  readonly text: string;
}

/** One cut after it was played. */
export interface PlayedCut {
  readonly cut: Cut;
  /** Whether the conversation came to its last point; a second cut may lie behind the end. */
  readonly isCut: boolean;
  readonly failure: Failure | undefined;
}

/** Plays cuts one after the other. A second cut that was never reached is none and no failure. */
export async function playCuts(
  uncut: ReadonlyMap<string, Played>,
  cuts: readonly Cut[],
  onPlayed: (played: PlayedCut) => void = () => {},
): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const cut of cuts) {
    const conversation = conversations.get(cut.conversation);
    const whole = uncut.get(cut.conversation);
    if (!conversation || !whole) {
      const names = [...conversations.keys()].join(', ');
      throw new Error(`there is no conversation ${cut.conversation}; there are ${names}`);
    }
    const { violations, isCut } = await play(conversation, { cut, uncut: whole });
    const isMissed = !isCut && !cut.then;
    const failure = failureOf(
      cut,
      isMissed ? [...violations, 'the conversation never came to this point'] : violations,
    );
    if (failure) failures.push(failure);
    onPlayed({ cut, isCut, failure });
  }
  return failures;
}

function failureOf(cut: Cut, problems: readonly string[]): Failure | undefined {
  if (problems.length === 0) return undefined;
  const name = cutName(cut);
  const text = [name, ...problems.map(problem => `  ${problem}`), `  alone: npm run cuts -- --only ${name}`].join('\n');
  return { cut, text };
}
