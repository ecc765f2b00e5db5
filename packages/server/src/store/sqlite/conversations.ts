import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import type { ConversationMetadata, Conversations, Scope } from '../port.ts';

/**
 * Calls of a conversation that its copy takes over, the newest first. Only calls that are pending in a checkpoint are ever asked
 * for again, and one checkpoint has as many as a model made in one answer.
 */
const CLONED_CALLS = 2_048;

/** What the other tables of the store share with this one. */
export interface ConversationsOptions {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  transaction<Result>(work: () => Result): Result;
  seal(scope: Scope, data: Uint8Array): Uint8Array;
  open(scope: Scope, data: Uint8Array, sealed: number): Uint8Array | undefined;
}

/** What is kept of conversations as such; beside the port, what removes rows that nobody wrote since a moment. */
export function openConversations(options: ConversationsOptions): Conversations & { sweep(before: number): void } {
  const { database, clock, transaction, seal, open } = options;
  const select = database.prepare('SELECT sealed, data FROM conversations WHERE owner = ? AND conversation_id = ?');
  const upsert = database.prepare(
    `INSERT INTO conversations (owner, conversation_id, sealed, written_at, data) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (owner, conversation_id) DO UPDATE SET sealed = excluded.sealed, written_at = excluded.written_at, data = excluded.data`,
  );
  const copyMetadata = database.prepare(
    `INSERT OR IGNORE INTO conversations (owner, conversation_id, sealed, written_at, data)
     SELECT owner, :to, sealed, :now, data FROM conversations WHERE owner = :owner AND conversation_id = :from`,
  );
  // a call that the copy has records of is left alone: mixed records of two attempts answer nothing
  const copyExec = database.prepare(
    `INSERT INTO exec_records (owner, conversation_id, call_id, step, request_id, seqno, args_hash, sealed, written_at, data)
     SELECT owner, :to, call_id, step, request_id, seqno, args_hash, sealed, :now, data FROM exec_records
     WHERE owner = :owner AND conversation_id = :from
       AND call_id IN (SELECT call_id FROM exec_records WHERE owner = :owner AND conversation_id = :from
                       GROUP BY call_id ORDER BY max(rowid) DESC LIMIT ${CLONED_CALLS})
       AND call_id NOT IN (SELECT call_id FROM exec_records WHERE owner = :owner AND conversation_id = :to)
     ORDER BY rowid`,
  );
  const remove = database.prepare('DELETE FROM conversations WHERE written_at < ?');

  const read = (scope: Scope, conversationId: string): ConversationMetadata | undefined => {
    const row = select.get(scope.owner, conversationId) as { sealed: number; data: Uint8Array } | undefined;
    const data = row && open(scope, row.data, row.sealed);
    return data && (JSON.parse(Buffer.from(data).toString('utf8')) as ConversationMetadata);
  };

  return {
    async metadata(scope, conversationId) {
      return read(scope, conversationId);
    },
    async updateMetadata(scope, conversationId, { name, onlySetNameIfEmpty, workspacePaths }) {
      transaction(() => {
        const before = read(scope, conversationId) ?? { name: '', workspacePaths: [] };
        const keepsName = name === undefined || (onlySetNameIfEmpty && before.name !== '');
        const after: ConversationMetadata = {
          name: keepsName ? before.name : name,
          workspacePaths: workspacePaths ?? before.workspacePaths,
        };
        const data = seal(scope, Buffer.from(JSON.stringify(after)));
        upsert.run(scope.owner, conversationId, scope.sealKey ? 1 : 0, clock.now(), data);
      });
    },
    async clone(scope, from, to) {
      const named = { owner: scope.owner, from, to, now: clock.now() };
      transaction(() => {
        copyMetadata.run(named);
        copyExec.run(named);
      });
    },
    sweep(before) {
      remove.run(before);
    },
  };
}
