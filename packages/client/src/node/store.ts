import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { mkdirSync, realpathSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { join, resolve } from 'node:path';
import type { BlobStore } from '../blob-store.ts';
import { collectBlobs, collectWhenDue } from './blob-collection.ts';
import type { Collected } from './blob-collection.ts';
import { SNAPSHOT_SCHEMA, fileSnapshots } from './file-snapshots.ts';
import type { FileSnapshots } from './file-snapshots.ts';
import { stateFolder } from './state-folder.ts';

/** One conversation as it is kept. */
export interface StoredConversation {
  id: string;
  /** The folder it works in, as a real path. */
  cwd: string;
  /** The last checkpoint; absent when none ever came. */
  state?: ConversationStateStructure;
  /** Milliseconds since the epoch. */
  updatedAt: number;
}

/** One conversation in a list: what a person is shown of it, without its state. */
export interface ListedConversation {
  id: string;
  /** The folder it works in, as a real path. */
  cwd: string;
  /** How many turns its last checkpoint has; absent when no checkpoint ever came. */
  turns?: number;
  /** The reference to its first turn, as the state has it (§14). */
  firstTurn?: Uint8Array;
  /** Milliseconds since the epoch. */
  updatedAt: number;
}

/** Conversations, their checkpoints and their blobs on disk. Several processes may use one store. */
export interface Store {
  /** The conversation of a folder that was saved last, however its last turn ended. */
  last(cwd: string): Promise<StoredConversation | undefined>;
  get(id: string): Promise<StoredConversation | undefined>;
  /** The conversations of a folder, or of all, the one saved last first; 1,000 unless told. */
  list(choice?: { cwd?: string; limit?: number }): Promise<ListedConversation[]>;
  /** Saves a conversation; a state replaces the former one, none leaves it. */
  save(id: string, conversation: { cwd: string; state?: ConversationStateStructure | undefined }): Promise<void>;
  /** Forgets a conversation; its blobs go with the next collection. */
  remove(id: string): Promise<void>;
  readonly blobs: BlobStore;
  /** Removes blobs that no conversation reaches and that are older than `youngest` milliseconds, a day unless told. */
  collect(youngest?: number): Promise<Collected>;
  /**
   * The same without being asked, at most once a day over all processes and only when the store grew. It is left after `longest` milliseconds.
   * Undefined when nothing was to be done, or not all of it was.
   */
  collectWhenDue(longest: number): Promise<Collected | undefined>;
  /** The files that turns changed, as they were before. */
  readonly snapshots: FileSnapshots;
  close(): void;
}

/** A list for a person: nobody reads further down. */
const LIST_LENGTH = 1_000;
/** How long a write waits for another process to finish its own. */
const BUSY = 5_000;

/** `saved` counts the saves: two of them may fall into one millisecond. */
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA busy_timeout = ${BUSY};
  CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY, cwd TEXT NOT NULL, state BLOB, updated_at INTEGER NOT NULL, saved INTEGER NOT NULL,
    turns INTEGER, first_turn BLOB
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS blobs (id BLOB PRIMARY KEY, data BLOB NOT NULL, stored_at INTEGER NOT NULL DEFAULT 0) STRICT;
  ${SNAPSHOT_SCHEMA}
`;

/**
 * A state is long, and lies in a row before what a list shows; each index has all of that, so that no list reads a state, and no save looks
 * for the last number.
 */
const INDEXES = `
  DROP INDEX IF EXISTS conversations_by_cwd;
  CREATE INDEX IF NOT EXISTS conversations_of_all ON conversations (saved, cwd, updated_at, turns, first_turn);
  CREATE INDEX IF NOT EXISTS conversations_of_folder ON conversations (cwd, saved, updated_at, turns, first_turn);
`;

/** Columns that a store of a former version lacks. Its blobs count as old; its conversations are counted by the first list. */
const LATER_COLUMNS = [
  ['blobs', 'stored_at', 'INTEGER NOT NULL DEFAULT 0'],
  ['conversations', 'turns', 'INTEGER'],
  ['conversations', 'first_turn', 'BLOB'],
] as const;

/** A blob may be stored this long before a checkpoint refers to it. */
const YOUNGEST = 24 * 60 * 60 * 1000;

/**
 * Opens the store of this user, or of the given folder. The file is made and the database loaded with the first use, so a run that keeps
 * nothing pays nothing; errors of the disk reject the call that met them.
 */
export function openStore(folder: string = stateFolder()): Store {
  let opened: Promise<DatabaseSync> | undefined;
  const database = () => (opened ??= openDatabase(folder));
  return {
    async last(cwd) {
      const sql = 'SELECT id, cwd, state, updated_at FROM conversations WHERE cwd = ? ORDER BY saved DESC LIMIT 1';
      return conversationOf((await database()).prepare(sql).get(realFolder(cwd)));
    },
    async get(id) {
      return conversationOf(
        (await database()).prepare('SELECT id, cwd, state, updated_at FROM conversations WHERE id = ?').get(id),
      );
    },
    async list({ cwd, limit = LIST_LENGTH } = {}) {
      const where = cwd === undefined ? '' : 'WHERE cwd = ?';
      const sql = `SELECT id, cwd, updated_at, turns, first_turn FROM conversations ${where} ORDER BY saved DESC LIMIT ?`;
      const open = await database();
      const rows = open.prepare(sql).all(...(cwd === undefined ? [] : [realFolder(cwd)]), limit);
      return rows.map(row => listedOf(row['turns'] === null ? countTurns(open, row) : row));
    },
    async save(id, { cwd, state }) {
      const bytes = state === undefined ? null : toBinary(ConversationStateStructureSchema, state);
      (await database())
        .prepare(
          `INSERT INTO conversations (id, cwd, state, updated_at, saved, turns, first_turn)
           VALUES (?, ?, ?, ?, (SELECT coalesce(max(saved), 0) + 1 FROM conversations), ?, ?)
           ON CONFLICT (id) DO UPDATE SET
             cwd = excluded.cwd, state = coalesce(excluded.state, state),
             turns = coalesce(excluded.turns, turns), first_turn = iif(excluded.turns IS NULL, first_turn, excluded.first_turn),
             updated_at = excluded.updated_at, saved = excluded.saved`,
        )
        .run(id, realFolder(cwd), bytes, Date.now(), state?.turns.length ?? null, state?.turns[0] ?? null);
    },
    async remove(id) {
      const open = await database();
      for (const table of ['turns', 'snapshots']) open.prepare(`DELETE FROM ${table} WHERE conversation = ?`).run(id);
      open.prepare('DELETE FROM conversations WHERE id = ?').run(id);
    },
    async collect(youngest = YOUNGEST) {
      return (await collectBlobs(await database(), Date.now() - youngest))!;
    },
    async collectWhenDue(longest) {
      const now = Date.now();
      const goesOn = () => opened !== undefined && Date.now() - now < longest;
      return await collectWhenDue(await database(), { now, youngest: YOUNGEST, goesOn });
    },
    snapshots: fileSnapshots(database),
    blobs: {
      async get(id) {
        const row = (await database()).prepare('SELECT data FROM blobs WHERE id = ?').get(id);
        return row?.['data'] as Uint8Array | undefined;
      },
      async set(id, data) {
        // Storing it again makes it young again: whoever does so is about to refer to it.
        const sql = `INSERT INTO blobs (id, data, stored_at) VALUES (?, ?, ?)
                     ON CONFLICT (id) DO UPDATE SET stored_at = excluded.stored_at`;
        (await database()).prepare(sql).run(id, data, Date.now());
      },
    },
    close() {
      // Whoever failed to open it has been told by the call that tried.
      void opened?.then(
        open => open.close(),
        () => undefined,
      );
      opened = undefined;
    },
  };
}

async function openDatabase(folder: string): Promise<DatabaseSync> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(folder, 'conversations.db'));
  database.exec(SCHEMA);
  const find = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?');
  for (const [table, column, type] of LATER_COLUMNS) {
    if (find.get(table, column) === undefined) database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
  }
  database.exec(INDEXES);
  return database;
}

/** Fills in what a row of a former version lacks, in the row given and for the lists to come. */
function countTurns(database: DatabaseSync, row: Record<string, unknown>): Record<string, unknown> {
  const id = row['id'] as string;
  const { state } = database.prepare('SELECT state FROM conversations WHERE id = ?').get(id) ?? {};
  if (!(state instanceof Uint8Array)) return row;
  const { turns } = fromBinary(ConversationStateStructureSchema, state);
  const counted = { turns: turns.length, first_turn: turns[0] ?? null };
  database
    .prepare('UPDATE conversations SET turns = ?, first_turn = ? WHERE id = ? AND turns IS NULL')
    .run(counted.turns, counted.first_turn, id);
  return { ...row, ...counted };
}

function listedOf(row: Record<string, unknown>): ListedConversation {
  const { turns, first_turn: firstTurn } = row as { turns: number | null; first_turn: Uint8Array | null };
  return {
    id: row['id'] as string,
    cwd: row['cwd'] as string,
    updatedAt: row['updated_at'] as number,
    ...(turns === null ? {} : { turns }),
    ...(firstTurn === null ? {} : { firstTurn }),
  };
}

function conversationOf(row: Record<string, unknown> | undefined): StoredConversation | undefined {
  if (row === undefined) return undefined;
  const state = row['state'] as Uint8Array | null;
  return {
    id: row['id'] as string,
    cwd: row['cwd'] as string,
    updatedAt: row['updated_at'] as number,
    ...(state === null ? {} : { state: fromBinary(ConversationStateStructureSchema, state) }),
  };
}

/** Two names of one folder are one folder. A folder that is gone keeps its name. */
function realFolder(cwd: string): string {
  try {
    return realpathSync(resolve(cwd));
  } catch {
    return resolve(cwd);
  }
}
