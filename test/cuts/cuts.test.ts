import { describe, expect, it } from 'vitest';
import { conversations } from './conversations/all.ts';
import { cutName, parseCutName, spread } from './cut.ts';
import type { Cut } from './cut.ts';
import { plants } from './plants.ts';
import { play } from './play.ts';
import { doubleCuts, playCuts, playUncut, singleCuts } from './series.ts';

/** Cuts played here; `npm run cuts` plays every one. */
const SINGLE = 1_750;
const DOUBLE = 300;
/** Real time, a guard only: ten times what the slice takes on an idle machine. */
const LONG_MS = 400_000;

const uncut = await playUncut();
const slice = [...spread(singleCuts(uncut), SINGLE), ...doubleCuts(uncut, DOUBLE, 7)];

describe('a conversation that is cut', () => {
  // one test a conversation: what the ids promise is checked in every play of it
  it.each([...conversations.keys()])(
    '[R42-acks-before-checkpoint, R48-never-issued-again, R47-prefix-byte-equal, R21-one-completion, R53-one-end-stream, R15-retry-continues, R19-reconnect-in-order, bad-client-gone-at-any-frame] comes to the same history as uncut, wherever it is cut: %s',
    async name => {
      const cuts = slice.filter(({ conversation }) => conversation === name);
      expect(cuts.length).toBeGreaterThan(250);
      const failures = await playCuts(uncut, cuts);
      expect(failures.map(({ text }) => text)).toEqual([]);
    },
    LONG_MS,
  );

  it('has every kind of cut on every side in the slice', () => {
    const seen = new Set(
      slice
        .filter(({ then }) => !then)
        .map(({ conversation, side, kind, variant }) => `${conversation} ${side} ${kind} ${variant}`),
    );
    const all = new Set(
      singleCuts(uncut).map(({ conversation, side, kind, variant }) => `${conversation} ${side} ${kind} ${variant}`),
    );
    expect([...all].filter(one => !seen.has(one))).toEqual([]);
  });

  it('is played the same way each time it is played', async () => {
    const cut = parseCutName('parallel/after/3/restart/0+up/4/reorder/2');
    const [first, second] = [await playNamed(cut), await playNamed(cut)];
    expect(second.after).toEqual(first.after);
    expect(second.points).toEqual(first.points);
  });

  it('can be named and played alone', () => {
    const [cut] = doubleCuts(uncut, 1, 3);
    expect(parseCutName(cutName(cut!))).toEqual(cut);
    expect(() => parseCutName('parallel/sideways/1/drop/0')).toThrow(/no cut/);
  });
});

describe('a fault that is planted', () => {
  it.each(Object.entries(plants))('is found: %s', async (_name, plant) => {
    const found: string[] = [];
    if (!plant.needsCut) found.push(...(await play(conversations.get('parallel')!, { plant })).violations);
    else {
      // between the acknowledgement of a result and the checkpoint that settles it
      for (const cut of restartsOf('parallel')) found.push(...(await playNamed(cut, plant)).violations);
    }
    expect(found.join('\n')).toMatch(plant.caught);
  });

  it('is what makes the difference: the same cuts hold without it', async () => {
    expect(await playCuts(uncut, restartsOf('parallel'))).toEqual([]);
  });
});

function playNamed(cut: Cut, plant?: (typeof plants)[string]) {
  return play(conversations.get(cut.conversation)!, {
    cut,
    uncut: uncut.get(cut.conversation)!,
    ...(plant && { plant }),
  });
}

/** The server killed after each write of the first turn. */
function restartsOf(conversation: string): Cut[] {
  const writes = uncut.get(conversation)!.before[1]!.points.after;
  return Array.from({ length: writes }, (_, index) => ({
    conversation,
    side: 'after',
    index,
    kind: 'restart',
    variant: 0,
  }));
}
