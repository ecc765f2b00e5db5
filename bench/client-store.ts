import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { openStore } from '@tandem/client/node';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { Figure } from './figure.ts';

const TURNS = 2_000;
const CONVERSATIONS = 200;
const OPEN_MS = 50;

/** A state as it is after so many turns: an id for each, and four messages of the model. */
function stateOf(turns: number) {
  const ids = (count: number) => Array.from({ length: count }, () => new Uint8Array(randomBytes(32)));
  return create(ConversationStateStructureSchema, { turns: ids(turns), rootPromptMessagesJson: ids(4 * turns) });
}

/** How long the conversations of a user take to come from disk, when the longest has 2,000 turns and there are 200 of them. */
export async function measureClientStore(repetitions: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-bench-'));
  try {
    const filled = openStore(folder);
    for (let i = 0; i < CONVERSATIONS; i++) await filled.save(`c${i}`, { cwd: folder, state: stateOf(TURNS) });
    filled.close();
    const took = { open: [] as number[], list: [] as number[] };
    for (let i = 0; i < Math.max(repetitions, 7); i++) {
      const startedAt = performance.now();
      const store = openStore(folder);
      const turns = (await store.last(folder))?.state?.turns.length;
      took.open.push(performance.now() - startedAt);
      store.close();
      const listedAt = performance.now();
      const other = openStore(folder);
      const listed = await other.list({ cwd: folder });
      took.list.push(performance.now() - listedAt);
      other.close();
      if (turns !== TURNS || listed.length !== CONVERSATIONS) throw new Error('the store gave something else back');
    }
    const size = `${CONVERSATIONS} conversations of ${TURNS} turns, a new connection to the file each time`;
    const figure = (name: string, what: string, ours: number[]): Figure => ({
      name,
      workload: `${what}; ${size}`,
      unit: 'ms',
      ours,
      limit: { what: 'the longest that is promised', values: ours.map(() => OPEN_MS) },
      target: { atMost: 1 },
    });
    return [
      figure('open the last conversation', 'openStore and last, with its state', took.open),
      figure('list the conversations', 'openStore and list', took.list),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
