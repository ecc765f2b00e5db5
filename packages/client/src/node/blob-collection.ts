import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** What a collection has removed. */
export interface Collected {
  blobs: number;
  /** Of their data. */
  bytes: number;
}

/** Bytes of an id (R39). */
const ID_BYTES = 32;

/** Data that is looked through, and blobs that are removed, before everything else in this process gets its turn. */
const SCANNED_AT_ONCE = 8 * 1024 * 1024;
const REMOVED_AT_ONCE = 500;

/** A collection that nobody asked for comes no sooner than this after the last one. */
const PAUSE = 24 * 60 * 60 * 1000;

/** When the last collection was, in any process, and the newest blob that was there at its end. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS collections (
  one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, newest INTEGER NOT NULL
) STRICT`;

/**
 * Removes the blobs that no conversation can reach and that were stored before `before`, milliseconds since the epoch: a running turn stores
 * blobs first and refers to them later (R42). What a blob holds is not decoded. Every field of 32 bytes, known or not, counts as a reference, so that the
 * states of a newer schema lose nothing.
 *
 * Other processes use the store meanwhile: nothing is locked for longer than a few hundred removals take, and what was saved since the search began
 * is searched again before each of them. Undefined when `goesOn` said no before the end; what was removed until then is gone.
 */
export async function collectBlobs(
  database: DatabaseSync,
  before: number,
  goesOn: () => boolean = () => true,
): Promise<Collected | undefined> {
  const search = new Search(database);
  while (search.step()) {
    await breathe();
    if (!goesOn()) return undefined;
  }
  const collected: Collected = { blobs: 0, bytes: 0 };
  const candidates = [...search.unreached];
  for (let at = 0; at < candidates.length; at += REMOVED_AT_ONCE) {
    inTransaction(database, () => {
      search.finish();
      const remove = database.prepare(
        'DELETE FROM blobs WHERE id = ? AND stored_at < ? RETURNING length(data) AS bytes',
      );
      for (const key of candidates.slice(at, at + REMOVED_AT_ONCE)) {
        const row = search.unreached.has(key) ? remove.get(Buffer.from(key, 'latin1'), before) : undefined;
        if (row === undefined) continue;
        collected.blobs++;
        collected.bytes += Number(row['bytes']);
      }
    });
    await breathe();
    if (!goesOn()) return undefined;
  }
  return collected;
}

/**
 * The same without being asked: at most once a day, whichever process comes first, and only when blobs were added since the last time. Undefined when it was
 * not due, or was left before its end; then it is tried again a day later.
 *
 * @param now milliseconds since the epoch
 */
export async function collectWhenDue(
  database: DatabaseSync,
  options: { now: number; youngest: number; goesOn: () => boolean },
): Promise<Collected | undefined> {
  const { now, youngest, goesOn } = options;
  database.exec(SCHEMA);
  const isDue = () => {
    const last = database.prepare('SELECT at, newest FROM collections').get();
    if (last === undefined) return true;
    const since = now - Number(last['at']);
    // A time in the future is one of a clock that was wrong.
    return (since < 0 || since >= PAUSE) && newestBlob(database) > Number(last['newest']);
  };
  // Looked at first: most runs need no lock then.
  if (!isDue()) return undefined;
  const isMine = inTransaction(database, () => {
    if (!isDue()) return false;
    database
      .prepare('INSERT INTO collections VALUES (1, ?, -1) ON CONFLICT (one) DO UPDATE SET at = excluded.at')
      .run(now);
    return true;
  });
  if (!isMine) return undefined;
  const collected = await collectBlobs(database, now - youngest, goesOn);
  if (collected !== undefined) database.prepare('UPDATE collections SET newest = ?').run(newestBlob(database));
  return collected;
}

function newestBlob(database: DatabaseSync): number {
  return Number(database.prepare('SELECT coalesce(max(rowid), 0) AS newest FROM blobs').get()?.['newest']);
}

/** Finds what the conversations reach. It can be left and taken up again, and notices what was saved in between. */
class Search {
  /** The ids of the blobs that nothing was found to refer to yet. */
  readonly unreached: Set<string>;
  private readonly startedAt = Date.now();
  private readonly readState: StatementSync;
  private readonly readSaved: StatementSync;
  private readonly readBlob: StatementSync;
  private readonly conversations: string[];
  private readonly waiting: Uint8Array[] = [];

  constructor(database: DatabaseSync) {
    this.readState = database.prepare('SELECT state FROM conversations WHERE id = ?');
    this.readSaved = database.prepare('SELECT state FROM conversations WHERE state IS NOT NULL AND updated_at >= ?');
    this.readBlob = database.prepare('SELECT data FROM blobs WHERE id = ?');
    const blobs = database.prepare('SELECT id FROM blobs').all();
    this.unreached = new Set(blobs.map(row => keyOf(row['id'] as Uint8Array)));
    this.conversations = database
      .prepare('SELECT id FROM conversations')
      .all()
      .map(row => row['id'] as string);
  }

  /** Searches on for a while; false when everything was searched. */
  step(): boolean {
    for (let scanned = 0; scanned < SCANNED_AT_ONCE;) {
      if (this.waiting.length > 0) scanned += this.scan(this.waiting.pop()!);
      else {
        const id = this.conversations.pop();
        if (id === undefined) return false;
        const state = this.readState.get(id)?.['state'] as Uint8Array | null | undefined;
        if (state) this.waiting.push(state);
      }
    }
    return true;
  }

  /** Searches the conversations that were saved since the beginning, to their end. */
  finish(): void {
    for (const row of this.readSaved.all(this.startedAt)) this.waiting.push(row['state'] as Uint8Array);
    for (let next = this.waiting.pop(); next !== undefined; next = this.waiting.pop()) this.scan(next);
  }

  private scan(message: Uint8Array): number {
    for (const id of idsIn(message, this.unreached)) {
      this.unreached.delete(keyOf(id));
      const blob = this.readBlob.get(id);
      if (blob !== undefined) this.waiting.push(blob['data'] as Uint8Array);
    }
    return message.length;
  }
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

const breathe = () => new Promise<void>(resolve => setImmediate(resolve));

/** The ids of `known` in a message: a field of 32 bytes stands there as its length, one byte, and the bytes. */
function* idsIn(message: Uint8Array, known: ReadonlySet<string>): Generator<Uint8Array> {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  for (let at = bytes.indexOf(ID_BYTES); at >= 0; at = bytes.indexOf(ID_BYTES, at + 1)) {
    const id = bytes.subarray(at + 1, at + 1 + ID_BYTES);
    if (id.length === ID_BYTES && known.has(keyOf(id))) yield id;
  }
}

function keyOf(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('latin1');
}
