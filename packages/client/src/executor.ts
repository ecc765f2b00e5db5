import type { ExecClientMessage, ExecServerMessage } from '@tandem/protocol/agent';

/** The question branches of an exec (§17.2), such as `readArgs`. */
export type ExecKind = NonNullable<ExecServerMessage['message']['case']>;

/** The arguments of one kind of exec. */
export type ExecArgs<Kind extends ExecKind> = Extract<ExecServerMessage['message'], { case: Kind }>['value'];

/** The answer branches of an exec (§10.2), such as `{ case: 'readResult', value }`. */
export type ExecAnswer = Exclude<ExecClientMessage['message'], { case: undefined }>;

/** What an executor is told about its surroundings. */
export interface ExecContext {
  /** Aborted when the server aborts the exec (§18) or the run is cancelled. What was started has to be stopped then. */
  signal: AbortSignal;
  /** The request_id of the stream that asked first; a child run names it as its parent (R9). */
  requestId?: string;
}

/**
 * One thing that this client can do for a server. `run` gives one answer, or several for a stream; what it throws reaches the server
 * as `throw` (§11). A refusal by policy is an answer, not an error.
 */
export interface Executor<Kind extends ExecKind = ExecKind> {
  kind: Kind;
  /** Longest time for one exec; five minutes when absent, none with `null` (a shell has limits of its own). */
  deadlineMs?: number | null;
  run(args: ExecArgs<Kind>, context: ExecContext): Promise<ExecAnswer> | AsyncIterable<ExecAnswer>;
  /** Lets go of what it holds between execs. */
  close?(): Promise<void>;
}

/** An executor of some kind, for lists. */
export type AnyExecutor = { [Kind in ExecKind]: Executor<Kind> }[ExecKind];

/** What a client can do. Of two executors of one kind the later one counts, so an embedder can replace a single one. */
export type Executors = readonly AnyExecutor[];

/** Kinds that change nothing: asking them twice is harmless. Every other kind has a side effect. */
const HARMLESS: ReadonlySet<ExecKind> = new Set<ExecKind>([
  'requestContextArgs',
  'readArgs',
  'redactedReadArgs',
  'grepArgs',
  'lsArgs',
  'diagnosticsArgs',
  'canvasDiagnosticsArgs',
  'listMcpResourcesExecArgs',
  'mcpStateExecArgs',
  'gitDiffRequest',
  'shellAllowlistPrecheckArgs',
  'mcpAllowlistPrecheckArgs',
  'webFetchAllowlistPrecheckArgs',
  'conversationSearchArgs',
  'smartModeClassifierArgs',
  'piReadArgs',
  'piGrepArgs',
  'piFindArgs',
  'piLsArgs',
]);

/** Whether an exec of this kind changes something when it runs. */
export function hasSideEffect(kind: ExecKind): boolean {
  return !HARMLESS.has(kind);
}
