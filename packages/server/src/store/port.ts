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

/** One model call: what it used, and what it cost where that is known. */
export interface UsageRecord {
  /** Empty for a call that belongs to no conversation. */
  readonly conversationId: string;
  readonly runId: string;
  /** The key of the model, `provider/id`. */
  readonly model: string;
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  /** Tokens as R58 counts them; what the provider did not report stays absent. */
  readonly usage: {
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    readonly cacheReadTokens?: number | undefined;
    readonly cacheWriteTokens?: number | undefined;
    readonly reasoningTokens?: number | undefined;
  };
  readonly cost: { readonly amount: number; readonly currency: string } | undefined;
  /** Whether a key paid for it that the run brought itself. */
  readonly isOwnKey: boolean;
}

/** The sum over some calls. */
export interface UsageRow {
  /** The day as `2026-12-01` in UTC, the model, the conversation or the run. */
  readonly name: string;
  readonly calls: number;
  readonly turns: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** By currency; calls whose price is not known are counted in `unpricedCalls` instead. */
  readonly cost: Readonly<Record<string, number>>;
  readonly unpricedCalls: number;
  /** When the last of the calls ended, in milliseconds since the epoch. */
  readonly lastAt: number;
}

/** What a report looks at: calls from `since` on and before `until`, in milliseconds since the epoch. */
export interface UsageQuery {
  readonly by: 'day' | 'model' | 'conversation' | 'turn';
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly conversationId?: string | undefined;
}

/** What every owner's model calls used and cost. */
export interface UsageBook {
  record(scope: Scope, record: UsageRecord): Promise<void>;
  /** What calls on the server's own keys cost since a moment. */
  spent(scope: Scope, currency: string, since: number): Promise<number>;
  /** The newest first, at most a thousand. */
  report(scope: Scope, query: UsageQuery): Promise<UsageRow[]>;
}

export interface Store {
  readonly blobs: BlobCache;
  readonly ledger: Ledger;
  readonly usage: UsageBook;
  readonly conversations: Conversations;
  /** 32 random bytes made once for this store; signs access tokens, so that they survive a restart. */
  readonly secret: Uint8Array;
  close(): Promise<void>;
}
