import type { ClientSnapshot } from './client-side.ts';
import type { Cut, Side } from './cut.ts';
import type { Plant } from './plants.ts';
import type { StoreWrite } from './server-process.ts';

/** What came of one play. */
export interface Played {
  /** What went wrong, in words; empty when all held. */
  readonly violations: readonly string[];
  /** How many points there were on each side, until the end or until the last cut that was made. */
  readonly points: Readonly<Record<Side, number>>;
  /** What stood after each turn that was played, by its number. */
  readonly after: ReadonlyMap<number, TurnEnd>;
  /** How it stood before each turn, to begin other plays there. */
  readonly before: readonly Snapshot[];
  /** Whether the cut was reached. */
  readonly isCut: boolean;
}

/** How a conversation stands after a turn: the history as lines, the text that was shown, the files. */
export interface TurnEnd {
  readonly lines: readonly string[];
  readonly text: string;
  readonly files: readonly (readonly [string, string])[];
}

/** Everything that goes on from one turn to the next; the server itself keeps nothing but its store. */
export interface Snapshot {
  readonly turn: number;
  readonly now: number;
  readonly ids: number;
  readonly requests: number;
  readonly points: Readonly<Record<Side, number>>;
  readonly client: ClientSnapshot;
  /** What was written to the store so far. */
  readonly writes: readonly StoreWrite[];
}

export interface PlayOptions {
  readonly cut?: Cut;
  /** The same conversation uncut, to compare with; the play begins with the turn that is cut and ends with the one after it. */
  readonly uncut?: Played;
  readonly plant?: Plant;
}

/** What differs after a turn from the same turn uncut, in words: history, display side, shown text, files. */
export function compareTurns(turn: number, mine: TurnEnd, uncut: TurnEnd | undefined): string[] {
  if (!uncut) return [];
  const problems: string[] = [];
  // a later attempt shows what the earlier one did not keep, and nothing else
  if (!uncut.text.endsWith(mine.text))
    problems.push(`turn ${turn} showed ${JSON.stringify(mine.text)}, uncut ${JSON.stringify(uncut.text)}`);
  const length = Math.max(mine.lines.length, uncut.lines.length);
  for (let at = 0; at < length; at++) {
    const [ours = '(nothing)', theirs = '(nothing)'] = [mine.lines[at], uncut.lines[at]];
    if (ours === theirs) continue;
    const from = Math.max(0, [...ours].findIndex((character, index) => character !== theirs[index]) - 80);
    const shown = (line: string) => line.slice(from, from + 300);
    problems.push(
      `the history after turn ${turn} differs at ${ours.split(':', 1)[0]}:\n    cut:   ${shown(ours)}\n    uncut: ${shown(theirs)}`,
    );
    break; // what follows mostly differs because of it
  }
  const files = new Map(mine.files);
  for (const [name, text] of uncut.files)
    if (files.get(name) !== text) problems.push(`the file ${name} differs after turn ${turn}`);
  return problems;
}
