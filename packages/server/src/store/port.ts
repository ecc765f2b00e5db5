/**
 * What the server keeps between requests: caches and a ledger, never the truth (R45). The client's checkpoint is the truth;
 * everything here may be lost at the cost of asking again, except that a finished tool call must not run twice (R48).
 */

/** Whose data it is, and the client's own key for data at rest (`x-blob-encryption-key`, R9). */
export interface Scope {
  readonly owner: string;
  /** 32 bytes; data written with a key can only be read with the same one. */
  readonly sealKey?: Uint8Array | undefined;
}

export interface BlobCache {
  /** The data of a blob, or undefined. Never data of another owner. */
  get(scope: Scope, id: Uint8Array): Promise<Uint8Array | undefined>;
  /** Keeps blobs; the oldest unused ones go when the cache is full. */
  put(scope: Scope, blobs: readonly { id: Uint8Array; data: Uint8Array }[]): Promise<void>;
}

/** One message that a client sent for an exec, as it came. */
export interface ExecRecord {
  readonly conversationId: string;
  /** The tool call that the exec belongs to. */
  readonly callId: string;
  /** Which exec of that call: 0 is the first that the tool asked for. */
  readonly step: number;
  /** The attempt that asked; events of two attempts are two streams. */
  readonly requestId: string;
  /** SHA-256 of the encoded arguments, so that an answer never fits another question. */
  readonly argsHash: Uint8Array;
  /** The append it came with; orders the events of a stream. */
  readonly seqno: number;
  /** An encoded `ExecClientMessage`. */
  readonly bytes: Uint8Array;
}

export interface RunRecord {
  readonly runId: string;
  readonly requestId: string;
  readonly conversationId: string;
  readonly model: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `ended`, `canceled`, or the code of the fault. */
  readonly outcome: string;
  readonly usage: Record<string, number | undefined>;
}

export interface Ledger {
  /** Resolves once the record survives a crash of the process; only then may the append be acknowledged (R7, R48). */
  recordExec(scope: Scope, record: ExecRecord): Promise<void>;
  /** The records of one tool call, ordered by step and seqno. */
  execRecords(scope: Scope, conversationId: string, callId: string): Promise<ExecRecord[]>;
  recordRun(scope: Scope, record: RunRecord): Promise<void>;
  /** The newest runs of a conversation, newest first. */
  runs(scope: Scope, conversationId: string): Promise<RunRecord[]>;
}

/** What a client told of a conversation beside its messages. */
export interface ConversationMetadata {
  /** Empty when it has none yet. */
  readonly name: string;
  readonly workspacePaths: readonly string[];
}

/** A change of metadata; what is undefined stays as it was. */
export interface MetadataChange {
  readonly name?: string | undefined;
  /** A name that is there already stays. */
  readonly onlySetNameIfEmpty: boolean;
  readonly workspacePaths?: readonly string[] | undefined;
}

export interface Conversations {
  /** What is known of a conversation, or undefined; data sealed with another key counts as unknown. */
  metadata(scope: Scope, conversationId: string): Promise<ConversationMetadata | undefined>;
  updateMetadata(scope: Scope, conversationId: string, change: MetadataChange): Promise<void>;
  /**
   * Gives a copy what is known of its source: metadata, unless it has its own, and the exec records of calls that it has none
   * of, so that doing it again changes nothing. What is sealed stays sealed.
   */
  clone(scope: Scope, from: string, to: string): Promise<void>;
}

export interface Store {
  readonly blobs: BlobCache;
  readonly ledger: Ledger;
  readonly conversations: Conversations;
  /** 32 random bytes made once for this store; signs access tokens, so that they survive a restart. */
  readonly secret: Uint8Array;
  close(): Promise<void>;
}
