import type { ErrorDetails_Error } from '../gen/aiserver/v1/errors_pb.js';
import type { Code } from './code.ts';
import { faults } from './fault-table.ts';
import type { FaultName } from './fault-table.ts';

/** What the one who throws may add to a row of the table, or knows better than it. */
export interface FaultOptions {
  /** What lies behind it; for the log of this side, never on the wire. */
  cause?: unknown;
  /** True only when nothing was shown or done yet, or the cause is transport (R54). */
  retryable?: boolean;
  /** Facts for programs, such as `retry_after_seconds` (R55). */
  additionalInfo?: Record<string, string>;
  /** Replaces the title of the row. */
  title?: string;
  /** Replaces the code of the row: for failures that the other side reported. */
  code?: Code;
  /** Replaces the error of the row: for failures that the other side reported. */
  error?: ErrorDetails_Error;
}

/** A failure with all that the wire says about it (R54). `message` and `detail` are the same text. */
export class Fault extends Error {
  /** The row of the table; `name` is taken by `Error`. */
  readonly name_: FaultName;
  readonly code: Code;
  readonly title: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly error: ErrorDetails_Error;
  readonly additionalInfo: Record<string, string>;

  constructor(name: FaultName, detail: string, options: FaultOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    const row = faults[name];
    this.name = 'Fault';
    this.name_ = name;
    this.code = options.code ?? row.code;
    this.title = options.title ?? row.title;
    this.detail = detail;
    this.retryable = options.retryable ?? row.retryable;
    this.error = options.error ?? row.error;
    this.additionalInfo = { ...options.additionalInfo };
  }

  /** A Fault as it is; anything else as `internal` with a neutral text, so that no cause crosses the wire. */
  static from(thrown: unknown): Fault {
    if (thrown instanceof Fault) return thrown;
    return new Fault('internal', 'The server met an error of its own. Its log says more.', { cause: thrown });
  }
}

/**
 * Makes a Fault from its row of the table.
 *
 * @param detail what happened, where, and how to mend it; shown to a person, so without secrets
 */
export function fault(name: FaultName, detail: string, options?: FaultOptions): Fault {
  return new Fault(name, detail, options);
}
