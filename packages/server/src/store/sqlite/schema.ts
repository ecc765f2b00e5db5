/** The tables, one statement a step; `user_version` counts the steps that were taken. */
export const migrations: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
   CREATE TABLE blobs (
     owner TEXT NOT NULL, id BLOB NOT NULL, sealed INTEGER NOT NULL, size INTEGER NOT NULL, used_at INTEGER NOT NULL, data BLOB NOT NULL,
     UNIQUE (owner, id)
   ) STRICT;
   CREATE INDEX blobs_by_use ON blobs (used_at);
   CREATE TABLE exec_records (
     owner TEXT NOT NULL, conversation_id TEXT NOT NULL, call_id TEXT NOT NULL, step INTEGER NOT NULL, seqno INTEGER NOT NULL,
     args_hash BLOB NOT NULL, sealed INTEGER NOT NULL, written_at INTEGER NOT NULL, data BLOB NOT NULL
   ) STRICT;
   CREATE INDEX exec_records_by_call ON exec_records (owner, conversation_id, call_id);
   CREATE INDEX exec_records_by_age ON exec_records (written_at);
   CREATE TABLE runs (
     owner TEXT NOT NULL, conversation_id TEXT NOT NULL, run_id TEXT NOT NULL, request_id TEXT NOT NULL, model TEXT NOT NULL,
     started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, outcome TEXT NOT NULL, usage TEXT NOT NULL
   ) STRICT;
   CREATE INDEX runs_by_conversation ON runs (owner, conversation_id, ended_at);`,
  `ALTER TABLE exec_records ADD COLUMN request_id TEXT NOT NULL DEFAULT '';`,
  `CREATE TABLE conversations (
     owner TEXT NOT NULL, conversation_id TEXT NOT NULL, sealed INTEGER NOT NULL, written_at INTEGER NOT NULL, data BLOB NOT NULL,
     UNIQUE (owner, conversation_id)
   ) STRICT;
   CREATE INDEX conversations_by_age ON conversations (written_at);`,
  `CREATE TABLE usage (
     owner TEXT NOT NULL, conversation_id TEXT NOT NULL, run_id TEXT NOT NULL, model TEXT NOT NULL, at INTEGER NOT NULL,
     own_key INTEGER NOT NULL, input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, reasoning INTEGER,
     cost REAL, currency TEXT
   ) STRICT;
   CREATE INDEX usage_by_time ON usage (owner, at);
   CREATE INDEX usage_by_age ON usage (at);`,
];
