import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { FileChange } from './file-change.ts';
import { writeBeside } from './replace-file.ts';
import { isMissing, messageOf } from './workspace.ts';

/** Longest file that is kept; a longer one cannot be brought back by an undo, and the undo says so. */
const FILE_CAP = 16 * 1024 * 1024;

/** Turns of one conversation whose files are kept; older ones are forgotten. */
const TURNS_KEPT = 50;

/** What an undo did. */
export interface Undone {
  /** Paths that are again as they were before the turn. */
  restored: string[];
  /** Paths that were left alone, and why. */
  skipped: { path: string; reason: string }[];
}

/** The files that the turns of conversations changed, as they were before. */
export interface FileSnapshots {
  /** Begins a turn of a conversation; gives its number. */
  beginTurn(conversationId: string): Promise<number>;
  /** Keeps a file as it is before a change. Of several changes of one file in one turn the first counts. */
  record(conversationId: string, turn: number, change: FileChange): Promise<void>;
  /** Brings the files of the last turn that changed any back. What was changed by somebody else since then is left alone. */
  undo(conversationId: string): Promise<Undone | undefined>;
}

/** The tables of it. `before` is NULL for a file that did not exist, or that was too long; `after` is the hash of what the turn left, empty when deleted. */
export const SNAPSHOT_SCHEMA = `
  CREATE TABLE IF NOT EXISTS turns (conversation TEXT NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (conversation, turn)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS snapshots (
    conversation TEXT NOT NULL, turn INTEGER NOT NULL, path TEXT NOT NULL, existed INTEGER NOT NULL, before BLOB, mode INTEGER,
    after TEXT NOT NULL, PRIMARY KEY (conversation, turn, path)
  ) STRICT;
`;

/** The snapshots in a database that has their tables. */
export function fileSnapshots(open: () => Promise<DatabaseSync>): FileSnapshots {
  return {
    async beginTurn(conversationId) {
      const database = await open();
      const row = database
        .prepare(
          'INSERT INTO turns (conversation, turn) SELECT ?, coalesce(max(turn), 0) + 1 FROM turns WHERE conversation = ? RETURNING turn',
        )
        .get(conversationId, conversationId);
      const turn = Number(row?.['turn']);
      for (const table of ['turns', 'snapshots'])
        database
          .prepare(`DELETE FROM ${table} WHERE conversation = ? AND turn <= ?`)
          .run(conversationId, turn - TURNS_KEPT);
      return turn;
    },
    async record(conversationId, turn, { path, before, mode, after }) {
      const kept = before === undefined || before.length > FILE_CAP ? null : before;
      (await open())
        .prepare(
          `INSERT INTO snapshots (conversation, turn, path, existed, before, mode, after) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (conversation, turn, path) DO UPDATE SET after = excluded.after`,
        )
        .run(conversationId, turn, path, before === undefined ? 0 : 1, kept, mode ?? null, hashOf(after));
    },
    async undo(conversationId) {
      const database = await open();
      const last = database
        .prepare('SELECT max(turn) AS turn FROM snapshots WHERE conversation = ?')
        .get(conversationId);
      if (last === undefined || last['turn'] === null) return undefined;
      const rows = database
        .prepare(
          'SELECT path, existed, before, mode, after FROM snapshots WHERE conversation = ? AND turn = ? ORDER BY path',
        )
        .all(conversationId, last['turn']!);
      const undone: Undone = { restored: [], skipped: [] };
      for (const row of rows) {
        const path = row['path'] as string;
        const problem = await restore(row as unknown as SnapshotRow).catch(messageOf);
        if (problem === undefined) undone.restored.push(path);
        else undone.skipped.push({ path, reason: problem });
      }
      // A second undo goes one turn further back.
      database.prepare('DELETE FROM snapshots WHERE conversation = ? AND turn = ?').run(conversationId, last['turn']!);
      return undone;
    },
  };
}

interface SnapshotRow {
  path: string;
  existed: number;
  before: Uint8Array | null;
  mode: number | null;
  after: string;
}

/** Undefined when it is done, else why not. */
async function restore({ path, existed, before, mode, after }: SnapshotRow): Promise<string | undefined> {
  const now = await readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (hashOf(now) !== after) return 'it was changed since then';
  if (existed === 0) {
    if (now !== undefined) await unlink(path);
    return undefined;
  }
  if (before === null) return `it was longer than ${FILE_CAP} bytes, so it was not kept`;
  await mkdir(dirname(path), { recursive: true });
  await writeBeside(path, before, undefined, async temporary => {
    if (mode !== null) await chmod(temporary, mode);
  });
  return undefined;
}

function hashOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : createHash('sha256').update(bytes).digest('hex');
}
