import { closeSync, existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { TerminalFolder } from './terminal-folder.ts';

const base = mkdtempSync(join(tmpdir(), 'tandem-terminals-'));
let count = 0;
const fresh = () => join(base, String(count++), 'terminals');
afterEach(() => rmSync(base, { recursive: true, force: true }));
const open = (folder: TerminalFolder) => {
  const file = folder.open('shell');
  closeSync(file.descriptor);
  return file;
};

it("makes itself, and names a shell's file by its number", () => {
  const path = fresh();
  const file = open(new TerminalFolder(path));
  expect(file).toMatchObject({ shellId: 1, path: join(path, '1.txt') });
  expect(existsSync(file.path)).toBe(true);
});

it('gives no number to two shells, not even to another process or after a restart', () => {
  const path = fresh();
  const one = new TerminalFolder(path);
  const other = new TerminalFolder(path);
  const ids = [open(one), open(other), open(one), open(other), open(new TerminalFolder(path))].map(
    file => file.shellId,
  );
  expect(new Set(ids).size).toBe(ids.length);
});

it('removes files of last week', () => {
  const path = fresh();
  open(new TerminalFolder(path));
  const old = join(path, '1.txt');
  const eightDaysAgo = Date.now() / 1000 - 8 * 24 * 60 * 60;
  utimesSync(old, eightDaysAgo, eightDaysAgo);
  writeFileSync(join(path, 'notes.md'), 'not ours');
  utimesSync(join(path, 'notes.md'), eightDaysAgo, eightDaysAgo);
  expect(open(new TerminalFolder(path)).shellId).toBe(2);
  expect([existsSync(old), existsSync(join(path, 'notes.md'))]).toEqual([false, true]);
});
