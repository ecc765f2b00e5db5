import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import type { ExecRecord, RunRecord, Scope, Store } from '../port.ts';
import { openBytes, sealBytes } from '../seal.ts';
import { openConversations } from './conversations.ts';
import { openDatabase } from './database.ts';
import { openUsage } from './usage.ts';

export interface SqliteOptions {
  /** A file path, or `:memory:`. Missing folders are made. */
  readonly file: string;
  readonly clock: Clock;
  /** Bytes of blobs kept; the longest unused go first. Default 1 GiB: a long conversation is about 10 MB. */
  readonly blobBytes?: number;
  /** How long exec and run records are kept. Default 7 days: a client that retries does so within minutes, a person within days. */
  readonly recordDays?: number;
  /** How long names and folders of a conversation are kept after they were last told. Default 90 days: they are small. */
  readonly metadataDays?: number;
  /** How long the usage of model calls is kept. Default 400 days: a year's bill can be looked at after the year is over. */
  readonly usageDays?: number;
  /** Told what a sweep of the blobs freed, and what is left, in bytes (F106). */
  readonly onSwept?: ((swept: { freedBytes: number; keptBytes: number }) => void) | undefined;
  /** Told where a broken file went (F103). */
  readonly onSetAside?: ((path: string) => void) | undefined;
}

const DAY = 86_400_000;
/** A blob that was used is noted at most this often: a turn reads hundreds, and each note is a write. What goes first is days old. */
const TOUCH_EVERY_MS = 600_000;
/** Blobs are swept after this many bytes were written, so that a sweep is rare and its scan is paid by many writes. */
const SWEEP_EVERY_BYTES = 32 * 1024 * 1024;

/** Opens the embedded store. WAL with `synchronous=NORMAL`: what was written survives a crash of the process. */
export function openSqliteStore(options: SqliteOptions): Store {
  const {
    file,
    clock,
    blobBytes = 1024 ** 3,
    recordDays = 7,
    metadataDays = 90,
    usageDays = 400,
    onSwept,
    onSetAside,
  } = options;
  const database = openDatabase(file, { now: () => clock.now(), onSetAside });
  const secret = ownSecret(database);

  const selectBlob = database.prepare('SELECT data, sealed, used_at AS usedAt FROM blobs WHERE owner = ? AND id = ?');
  const touchBlob = database.prepare('UPDATE blobs SET used_at = ? WHERE owner = ? AND id = ?');
  const insertBlob = database.prepare(
    `INSERT INTO blobs (owner, id, sealed, size, used_at, data) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (owner, id) DO UPDATE SET sealed = excluded.sealed, size = excluded.size, used_at = excluded.used_at, data = excluded.data`,
  );
  const totalBlobs = database.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM blobs');
  const oldestBlobs = database.prepare('SELECT rowid AS row, size FROM blobs ORDER BY used_at LIMIT 1000');
  const deleteBlob = database.prepare('DELETE FROM blobs WHERE rowid = ?');
  const insertExec = database.prepare(
    `INSERT INTO exec_records (owner, conversation_id, call_id, step, request_id, seqno, args_hash, sealed, written_at, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectExec = database.prepare(
    `SELECT step, request_id AS requestId, seqno, args_hash AS argsHash, sealed, data FROM exec_records
     WHERE owner = ? AND conversation_id = ? AND call_id = ? ORDER BY step, seqno`,
  );
  const deleteOldExec = database.prepare('DELETE FROM exec_records WHERE written_at < ?');
  const deleteOldRuns = database.prepare('DELETE FROM runs WHERE ended_at < ?');
  const insertRun = database.prepare(
    `INSERT INTO runs (owner, conversation_id, run_id, request_id, model, started_at, ended_at, outcome, usage)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectRuns = database.prepare(
    `SELECT run_id AS runId, request_id AS requestId, conversation_id AS conversationId, model, started_at AS startedAt,
            ended_at AS endedAt, outcome, usage FROM runs WHERE owner = ? AND conversation_id = ? ORDER BY ended_at DESC LIMIT 100`,
  );

  const seal = (scope: Scope, data: Uint8Array) => (scope.sealKey ? sealBytes(scope.sealKey, data) : data);
  const open = (scope: Scope, data: Uint8Array, sealed: number) =>
    !sealed ? data : scope.sealKey ? openBytes(scope.sealKey, data) : undefined;

  function transaction<Result>(work: () => Result): Result {
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

  function sweepBlobs(): void {
    const before = Number((totalBlobs.get() as { bytes: number }).bytes);
    let bytes = before;
    while (bytes > blobBytes) {
      const oldest = oldestBlobs.all() as { row: number; size: number }[];
      if (oldest.length === 0) break;
      transaction(() => {
        for (const { row, size } of oldest) {
          if (bytes <= blobBytes * 0.9) return;
          deleteBlob.run(row);
          bytes -= size;
        }
      });
    }
    if (bytes < before) onSwept?.({ freedBytes: before - bytes, keptBytes: bytes });
  }

  const usage = openUsage(database);
  const conversations = openConversations({ database, clock, transaction, seal, open });

  function sweepRecords(): void {
    const before = clock.now() - recordDays * DAY;
    deleteOldExec.run(before);
    deleteOldRuns.run(before);
    conversations.sweep(clock.now() - metadataDays * DAY);
    usage.sweep(clock.now() - usageDays * DAY);
  }

  let unswept = 0;
  sweepRecords();
  sweepBlobs();
  let cancelSweep = clock.after(DAY / 24, function hourly() {
    sweepRecords();
    cancelSweep = clock.after(DAY / 24, hourly);
  });

  return {
    secret,
    conversations,
    usage,
    blobs: {
      async get(scope, id) {
        const row = selectBlob.get(scope.owner, id) as { data: Uint8Array; sealed: number; usedAt: number } | undefined;
        if (!row) return undefined;
        if (clock.now() - row.usedAt >= TOUCH_EVERY_MS) touchBlob.run(clock.now(), scope.owner, id);
        return open(scope, row.data, row.sealed);
      },
      async put(scope, blobs) {
        if (blobs.length === 0) return;
        transaction(() => {
          for (const { id, data } of blobs) {
            const kept = seal(scope, data);
            insertBlob.run(scope.owner, id, scope.sealKey ? 1 : 0, kept.length, clock.now(), kept);
            unswept += kept.length;
          }
        });
        if (unswept >= Math.min(SWEEP_EVERY_BYTES, blobBytes)) {
          unswept = 0;
          sweepBlobs();
        }
      },
    },
    ledger: {
      async recordExec(scope, record) {
        const { conversationId, callId, step, requestId, seqno, argsHash, bytes } = record;
        insertExec.run(
          scope.owner,
          conversationId,
          callId,
          step,
          requestId,
          seqno,
          argsHash,
          scope.sealKey ? 1 : 0,
          clock.now(),
          seal(scope, bytes),
        );
      },
      async execRecords(scope, conversationId, callId) {
        type Row = {
          step: number;
          requestId: string;
          seqno: number;
          argsHash: Uint8Array;
          sealed: number;
          data: Uint8Array;
        };
        const rows = selectExec.all(scope.owner, conversationId, callId) as Row[];
        return rows.flatMap(({ step, requestId, seqno, argsHash, sealed, data }): ExecRecord[] => {
          const bytes = open(scope, data, sealed);
          return bytes ? [{ conversationId, callId, step, requestId, seqno, argsHash, bytes }] : [];
        });
      },
      async recordRun(scope, run) {
        insertRun.run(
          scope.owner,
          run.conversationId,
          run.runId,
          run.requestId,
          run.model,
          run.startedAt,
          run.endedAt,
          run.outcome,
          JSON.stringify(run.usage),
        );
      },
      async runs(scope, conversationId) {
        const rows = selectRuns.all(scope.owner, conversationId) as (Omit<RunRecord, 'usage'> & { usage: string })[];
        return rows.map(row => ({ ...row, usage: JSON.parse(row.usage) as RunRecord['usage'] }));
      },
    },
    async close() {
      cancelSweep();
      database.close();
    },
  };
}

function ownSecret(database: DatabaseSync): Uint8Array {
  database.prepare('INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)').run('token-secret', randomBytes(32));
  const row = database.prepare('SELECT value FROM meta WHERE key = ?').get('token-secret') as { value: Uint8Array };
  return row.value;
}
