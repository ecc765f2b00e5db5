import { openSqliteStore } from '../../packages/server/src/store/sqlite/store.ts';
import type { Store } from '../../packages/server/src/store/port.ts';

/** Plays that share one database, each as an owner of its own: opening one takes as long as a play. */
const PLAYS_PER_STORE = 100;
/** The store's own hour: its sweeps play no part. */
const standing = { now: () => 1_800_000_000_000, after: () => () => {} };

let shared: Store | undefined;
let plays = 0;

/** The real store in memory for one play, and the owner to use it as. It outlives every server of the play. */
export async function borrowStore(): Promise<{ store: Store; owner: string }> {
  if (shared && plays % PLAYS_PER_STORE === 0) {
    await shared.close();
    shared = undefined;
  }
  shared ??= openSqliteStore({ file: ':memory:', clock: standing });
  return { store: shared, owner: `owner ${++plays}` };
}
