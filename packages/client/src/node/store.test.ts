import { create } from '@bufbuild/protobuf';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
