import { openSqliteStore } from '../../packages/server/src/store/sqlite/store.ts';
import type { Store } from '../../packages/server/src/store/port.ts';
import type { Clock } from '@tandem/server';

/** The real store in memory; it outlives every server of a play. */
export function openPlayStore(clock: Clock): Store {
  return openSqliteStore({ file: ':memory:', clock });
}
