import type { Log } from './log.ts';

/** What one run did, for its one line in the log. Ids and figures only: no text of a person or a model. */
export interface RunLine {
  readonly requestId: string;
  readonly runId?: string;
  readonly conversationId?: string;
  readonly owner: string;
  readonly model?: string;
  /** `ended`, `canceled`, or the name of the fault. */
  readonly outcome: string;
  /** What the client was told, when it failed. */
  readonly detail?: string;
  readonly durationMs: number;
  readonly firstOutputMs?: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly retries: number;
  readonly usage: object;
  /** By currency; absent where no price is known. */
  readonly cost?: object;
}

/** Writes the line of a run that ended: at `info` when it ended or was canceled, at `warn` when it failed. */
export function logRun(log: Log, run: RunLine): void {
  const isFine = run.outcome === 'ended' || run.outcome === 'canceled';
  if (isFine) log.info({ ...run }, 'run');
  else log.warn({ ...run }, 'run');
}
