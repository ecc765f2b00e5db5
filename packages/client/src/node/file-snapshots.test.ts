import { DeleteArgsSchema, WriteArgsSchema } from '@tandem/protocol/agent';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { makeMachine, runExecutor } from '../../test/machine.ts';
import { deleteExecutor } from './delete.ts';
import { openStore } from './store.ts';
import type { Store } from './store.ts';
import { writeExecutor } from './write.ts';

let store: Store;
afterEach(() => store.close());

async function begin(tree: Record<string, string>) {
  const made = makeMachine(tree);
  store = openStore(join(made.base, 'state'));
  const { snapshots } = store;
  const turn = async () => {
    const number = await snapshots.beginTurn('c');
    made.machine.onFileChange = change => snapshots.record('c', number, change);
  };
  const write = (path: string, fileText: string) =>
    runExecutor(writeExecutor(made.machine), WriteArgsSchema, { path, fileText });
  const remove = (path: string) => runExecutor(deleteExecutor(made.machine), DeleteArgsSchema, { path });
  return { ...made, snapshots, turn, write, remove };
}

it('[undo-turn] brings the files of the last turn back as they were before its first change', async () => {
  const { file, snapshots, turn, write, remove } = await begin({ a: 'one', b: 'two' });
  chmodSync(file('a'), 0o750);
  await turn();
  await write('a', 'first');
  await turn();
  await write('a', 'second');
  await write('a', 'third');
  await write('new/file', 'x');
  await remove('b');
  expect(await snapshots.undo('c')).toEqual({ restored: [file('a'), file('b'), file('new/file')], skipped: [] });
  expect([readFileSync(file('a'), 'utf8'), readFileSync(file('b'), 'utf8'), existsSync(file('new/file'))]).toEqual([
    'first',
    'two',
    false,
  ]);
  expect(statSync(file('a')).mode & 0o777).toBe(0o750);
  await snapshots.undo('c');
  expect(readFileSync(file('a'), 'utf8')).toBe('one');
  expect(await snapshots.undo('c')).toBeUndefined();
});

it('leaves alone what somebody else has changed since', async () => {
  const { file, snapshots, turn, write } = await begin({ a: 'one' });
  await turn();
  await write('a', 'two');
  await write('gone', 'x');
  writeFileSync(file('a'), 'mine');
  expect(await snapshots.undo('c')).toEqual({
    restored: [file('gone')],
    skipped: [{ path: file('a'), reason: 'it was changed since then' }],
  });
  expect(readFileSync(file('a'), 'utf8')).toBe('mine');
});

it('writes a file although its copy cannot be kept', async () => {
  const { machine, file, write } = await begin({ a: 'one' });
  machine.onFileChange = () => Promise.reject(new Error('disk full'));
  await write('a', 'two');
  expect(readFileSync(file('a'), 'utf8')).toBe('two');
});
