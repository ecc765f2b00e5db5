import { create, toBinary } from '@bufbuild/protobuf';
import {
  AgentConversationTurnStructureSchema,
  ConversationStateStructureSchema,
  ConversationTurnStructureSchema,
} from '@tandem/protocol/agent';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashBlob } from '../blob-store.ts';
import { collectBlobs, collectWhenDue } from './blob-collection.ts';
import { openStore } from './store.ts';
import type { Store } from './store.ts';

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tandem-'));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function put(data: string | Uint8Array): Promise<Uint8Array> {
  const bytes = Buffer.from(data as string);
  const id = await hashBlob(bytes);
  await store.blobs.set(id, bytes);
  return id;
}
const held = async (id: Uint8Array) => (await store.blobs.get(id)) !== undefined;

it('K02: keeps what a state reaches over any number of blobs, and removes the rest', async () => {
  const message = await put('user message');
  const step = await put('a step');
  const agentConversationTurn = create(AgentConversationTurnStructureSchema, { userMessage: message, steps: [step] });
  const turn = await put(
    toBinary(
      ConversationTurnStructureSchema,
      create(ConversationTurnStructureSchema, {
        turn: { case: 'agentConversationTurn', value: agentConversationTurn },
      }),
    ),
  );
  const newer = await put('of a newer schema');
  const [orphan, other] = [await put('orphan'), await put('of another conversation')];
  const state = create(ConversationStateStructureSchema, { turns: [turn] });
  state.$unknown = [{ no: 4000, wireType: 2, data: Uint8Array.of(32, ...newer) }];
  await store.save('one', { cwd: folder, state });
  await store.save('two', {
    cwd: folder,
    state: create(ConversationStateStructureSchema, { rootPromptMessagesJson: [other] }),
  });
  expect(await store.collect(-1)).toEqual({ blobs: 1, bytes: 6 });
  expect(await Promise.all([message, step, turn, newer, orphan, other].map(held))).toEqual([
    true,
    true,
    true,
    true,
    false,
    true,
  ]);
  await store.remove('two');
  expect(await store.collect(-1)).toEqual({ blobs: 1, bytes: 23 });
  expect(await store.get('two')).toBeUndefined();
});

it('keeps young blobs, which a running turn may be about to refer to', async () => {
  const young = await put('young');
  expect(await store.collect()).toEqual({ blobs: 0, bytes: 0 });
  expect(await held(young)).toBe(true);
});

it('takes over a store of the first version', async () => {
  store.close();
  const old = mkdtempSync(join(tmpdir(), 'tandem-'));
  const database = new DatabaseSync(join(old, 'conversations.db'));
  database.exec('CREATE TABLE blobs (id BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT');
  database.prepare('INSERT INTO blobs VALUES (?, ?)').run(new Uint8Array(32), Buffer.from('x'));
  database.close();
  store = openStore(old);
  expect(await store.blobs.get(new Uint8Array(32))).toBeDefined();
  expect(await store.collect()).toEqual({ blobs: 1, bytes: 1 });
  store.close();
  rmSync(old, { recursive: true, force: true });
});

const DAY = 24 * 60 * 60 * 1000;
const named = (...turns: Uint8Array[]) => create(ConversationStateStructureSchema, { turns });
/** The same file as another process has it. */
function openBeside<T>(work: (database: DatabaseSync) => Promise<T>): Promise<T> {
  const database = new DatabaseSync(join(folder, 'conversations.db'));
  return work(database).finally(() => database.close());
}

it('[product-store-collected] is due at most once a day, whichever process comes first, and only when the store grew', async () => {
  await put('orphan');
  await store.save('one', { cwd: folder, state: named(await put('kept')) });
  const now = Date.now() + 2 * DAY;
  const due = (later: number) =>
    openBeside(database => collectWhenDue(database, { now: now + later, youngest: DAY, goesOn: () => true }));
  const both = await Promise.all([due(0), due(0)]);
  expect(both.filter(one => one !== undefined)).toEqual([{ blobs: 1, bytes: 6 }]);
  expect(await due(DAY)).toBeUndefined();
  await put('one more');
  expect(await due(DAY - 1)).toBeUndefined();
  expect(await due(DAY)).toEqual({ blobs: 1, bytes: 8 });
  expect(await due(DAY + 1)).toBeUndefined();
});

it('[product-store-collected] that was left before its end is tried again a day later', async () => {
  await put('orphan');
  const now = Date.now() + 2 * DAY;
  const due = (later: number, goesOn: boolean) =>
    openBeside(database => collectWhenDue(database, { now: now + later, youngest: DAY, goesOn: () => goesOn }));
  expect(await due(0, false)).toBeUndefined();
  expect(await due(DAY - 1, true)).toBeUndefined();
  await put('a new one, so that the store grew');
  expect(await due(DAY, true)).toMatchObject({ blobs: 1 });
});

it('[product-store-collected] takes nothing that another process refers to while it goes on', async () => {
  const [late, orphan] = [await put('late'), await put('orphan')];
  await store.save('one', { cwd: folder, state: named(await put(Buffer.alloc(9 * 1024 * 1024))) });
  await store.save('zz', { cwd: folder });
  const state = toBinary(ConversationStateStructureSchema, named(late));
  const collected = await openBeside(database =>
    collectBlobs(database, Date.now() + 1, () => {
      // The search has begun, and has seen this conversation without a state.
      const other = new DatabaseSync(join(folder, 'conversations.db'));
      other.prepare("UPDATE conversations SET state = ?, updated_at = ? WHERE id = 'zz'").run(state, Date.now());
      other.close();
      return true;
    }),
  );
  expect([collected, await held(late), await held(orphan)]).toEqual([{ blobs: 1, bytes: 6 }, true, false]);
});

it('[product-store-collected] lets other work in between, and other processes write', async () => {
  const large = Buffer.alloc(9 * 1024 * 1024, 1);
  await store.save('one', { cwd: folder, state: named(await put(large), await put(Buffer.concat([large, large]))) });
  for (let count = 0; count < 1_200; count++)
    await store.blobs.set(new Uint8Array(32).fill(count % 251, 0, 3).fill(count / 251, 3), Buffer.from('x'));
  let turns = 0;
  const collected = await openBeside(database =>
    collectBlobs(database, Date.now() + 1, () => {
      turns++;
      database.prepare('SELECT 1').get();
      // Nothing is locked at this moment.
      const other = new DatabaseSync(join(folder, 'conversations.db'));
      other.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK');
      other.close();
      return true;
    }),
  );
  expect(collected?.blobs).toBeGreaterThan(1_000);
  expect(turns).toBeGreaterThan(3);
});
