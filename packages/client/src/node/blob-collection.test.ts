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

it('[K02, blob-collection] keeps what a state reaches over any number of blobs, and removes the rest', async () => {
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
