import type { DatabaseSync } from 'node:sqlite';

/** What a collection has removed. */
export interface Collected {
  blobs: number;
  /** Of their data. */
  bytes: number;
}

/** Bytes of an id (R39). */
const ID_BYTES = 32;

/**
 * Removes the blobs that no conversation can reach and that were stored before `before`, milliseconds since the epoch: a running turn stores
 * blobs first and refers to them later (R42). What a blob holds is not decoded. Every field of 32 bytes, known or not, counts as a reference, so that the
 * states of a newer schema lose nothing.
 */
export function collectBlobs(database: DatabaseSync, before: number): Collected {
  database.exec('BEGIN IMMEDIATE');
  try {
    const unreached = new Set<string>();
    for (const row of database.prepare('SELECT id FROM blobs').iterate()) unreached.add(keyOf(row['id'] as Uint8Array));
    const read = database.prepare('SELECT data FROM blobs WHERE id = ?');
    const waiting: Uint8Array[] = [];
    for (const row of database.prepare('SELECT state FROM conversations WHERE state IS NOT NULL').iterate()) {
      waiting.push(row['state'] as Uint8Array);
      while (waiting.length > 0) {
        for (const id of idsIn(waiting.pop()!, unreached)) {
          unreached.delete(keyOf(id));
          const blob = read.get(id);
          if (blob !== undefined) waiting.push(blob['data'] as Uint8Array);
        }
      }
    }
    const collected: Collected = { blobs: 0, bytes: 0 };
    const remove = database.prepare('DELETE FROM blobs WHERE id = ? AND stored_at < ? RETURNING length(data) AS bytes');
    for (const key of unreached) {
      const row = remove.get(Buffer.from(key, 'latin1'), before);
      if (row === undefined) continue;
      collected.blobs++;
      collected.bytes += Number(row['bytes']);
    }
    database.exec('COMMIT');
    return collected;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

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
