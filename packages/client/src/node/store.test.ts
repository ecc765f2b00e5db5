import { create, toBinary } from '@bufbuild/protobuf';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { hashBlob } from '../blob-store.ts';
import { openStore } from './store.ts';

const base = mkdtempSync(join(tmpdir(), 'tandem-store-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let count = 0;
const fresh = () => join(base, String(count++));
const state = (path: string) => create(ConversationStateStructureSchema, { readPaths: [path] });

it('gives a conversation and its state back to another process', async () => {
  const folder = fresh();
  const store = openStore(folder);
  await store.save('one', { cwd: base, state: state('/a') });
  const other = openStore(folder);
  expect(await other.get('one')).toMatchObject({ id: 'one', cwd: base, state: { readPaths: ['/a'] } });
  expect(await other.get('none')).toBeUndefined();
  store.close();
  other.close();
});

it('knows the last conversation of a folder, whatever name the folder is given', async () => {
  const store = openStore(fresh());
  const project = join(base, 'project');
  mkdirSync(project, { recursive: true });
  symlinkSync(project, join(base, 'link'));
  await store.save('old', { cwd: project });
  await store.save('elsewhere', { cwd: base });
  await store.save('new', { cwd: join(base, 'link') });
  expect((await store.last(project))?.id).toBe('new');
  await store.save('old', { cwd: project, state: state('/b') });
  await store.save('old', { cwd: project, state: state('/b') });
  expect((await store.last(project))?.id).toBe('old');
  expect(await store.last(join(base, 'gone'))).toBeUndefined();
  store.close();
});

it('replaces a state by the next one, and keeps it when a turn brought none', async () => {
  const store = openStore(fresh());
  await store.save('one', { cwd: base });
  expect((await store.get('one'))?.state).toBeUndefined();
  await store.save('one', { cwd: base, state: state('/a') });
  await store.save('one', { cwd: base, state: state('/b') });
  await store.save('one', { cwd: base });
  expect((await store.get('one'))?.state?.readPaths).toEqual(['/b']);
  store.close();
});

it('keeps fields of a newer schema in a state', async () => {
  const store = openStore(fresh());
  const newer = state('/a');
  newer.$unknown = [{ no: 4000, wireType: 2, data: Uint8Array.of(1, 0x78) }];
  await store.save('one', { cwd: base, state: newer });
  expect((await store.get('one'))?.state?.$unknown).toMatchObject([{ no: 4000 }]);
  store.close();
});

it('keeps blobs', async () => {
  const folder = fresh();
  const data = Buffer.from('kept');
  const id = await hashBlob(data);
  const store = openStore(folder);
  await store.blobs.set(id, data);
  await store.blobs.set(id, data);
  store.close();
  const other = openStore(folder);
  expect(Buffer.from((await other.blobs.get(id))!).toString()).toBe('kept');
  expect(await other.blobs.get(new Uint8Array(32))).toBeUndefined();
  other.close();
});

it('makes nothing before its first use, and rejects when its folder cannot be one', async () => {
  const file = join(base, 'a-file');
  writeFileSync(file, '');
  const store = openStore(file);
  await expect(store.get('one')).rejects.toThrow();
  expect(() => store.close()).not.toThrow();
});

it('lists what a person is shown of conversations, the one saved last first, without their states', async () => {
  const store = openStore(fresh());
  const first = Uint8Array.from({ length: 32 }, (_, at) => at);
  await store.save('asked', { cwd: base });
  await store.save('worked', { cwd: base, state: create(ConversationStateStructureSchema, { turns: [first, first] }) });
  await store.save('elsewhere', { cwd: tmpdir(), state: state('/a') });
  await store.save('worked', { cwd: base });
  expect(await store.list({ cwd: base })).toEqual([
    { id: 'worked', cwd: base, updatedAt: expect.any(Number), turns: 2, firstTurn: first },
    { id: 'asked', cwd: base, updatedAt: expect.any(Number) },
  ]);
  expect((await store.list({ limit: 2 })).map(({ id, turns }) => [id, turns])).toEqual([
    ['worked', 2],
    ['elsewhere', 0],
  ]);
  store.close();
});

it('replaces what a list shows with the state, so that a rolled back conversation loses its turns', async () => {
  const store = openStore(fresh());
  await store.save('one', {
    cwd: base,
    state: create(ConversationStateStructureSchema, { turns: [new Uint8Array(32)] }),
  });
  await store.save('one', { cwd: base, state: state('/a') });
  expect(await store.list()).toEqual([{ id: 'one', cwd: base, updatedAt: expect.any(Number), turns: 0 }]);
  store.close();
});

it('counts the turns of a store that a former version made', async () => {
  const folder = fresh();
  mkdirSync(folder);
  const former = new DatabaseSync(join(folder, 'conversations.db'));
  former.exec(`
    CREATE TABLE conversations (
      id TEXT PRIMARY KEY, cwd TEXT NOT NULL, state BLOB, updated_at INTEGER NOT NULL, saved INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX conversations_by_cwd ON conversations (cwd, saved);
    CREATE TABLE blobs (id BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT;
  `);
  const turn = Uint8Array.from({ length: 32 }, () => 7);
  const bytes = toBinary(ConversationStateStructureSchema, create(ConversationStateStructureSchema, { turns: [turn] }));
  const insert = former.prepare('INSERT INTO conversations VALUES (?, ?, ?, 1, ?)');
  insert.run('worked', base, bytes, 1);
  insert.run('asked', base, null, 2);
  former.close();
  const expected = [
    { id: 'asked', cwd: base, updatedAt: 1 },
    { id: 'worked', cwd: base, updatedAt: 1, turns: 1, firstTurn: turn },
  ];
  for (let time = 0; time < 2; time++) {
    const store = openStore(folder);
    expect(await store.list()).toEqual(expected);
    expect((await store.get('worked'))?.state?.turns).toEqual([turn]);
    store.close();
  }
});
