import { Fault } from '@tandem/protocol';
import type { Code } from '@tandem/protocol';

/** Why an attempt or a run failed, in words for a person. */
export interface RunError {
  /** A Connect code. */
  code: Code;
  /** A few words. */
  title: string;
  /** What happened, and how to mend it where that is known. */
  message: string;
  /** Whether trying again may help. */
  retryable: boolean;
}

/** The failure of one attempt. */
export class AttemptFailure extends Error {
  readonly error: RunError;
  /** The server wants the next attempt no earlier than after this many milliseconds. */
  readonly waitMs: number | undefined;
  /** The server ended the stream as cancelled (§24). */
  readonly cancelled: boolean;

  constructor(error: RunError, options: { waitMs?: number | undefined; cancelled?: boolean; cause?: unknown } = {}) {
    super(`${error.title}: ${error.message}`, { cause: options.cause });
    this.error = error;
    this.waitMs = options.waitMs;
    this.cancelled = options.cancelled ?? false;
  }
}

/** How far down the causes of an error are read. */
const CAUSES = 5;

/** Codes after which the same run may be tried again; all others are about the request itself. */
const RETRIED: ReadonlySet<Code> = new Set<Code>([
  'unavailable',
  'resource_exhausted',
  'deadline_exceeded',
  'aborted',
  'internal',
  'unknown',
]);

/**
 * A failure that the server reported in `payload`, the JSON that `fault` was read from. Whether it may be tried again is for its detail to
 * say (R54); without a detail the code decides.
 */
export function failureOfFault(fault: Fault, payload?: Uint8Array): AttemptFailure {
  const allowed = fault.retryable || (payload !== undefined && !hasDetail(payload));
  const seconds = Number(fault.additionalInfo['retry_after_seconds']);
  return new AttemptFailure(
    {
      code: fault.code,
      title: fault.title,
      message: fault.detail,
      retryable: allowed && RETRIED.has(fault.code),
    },
    {
      cancelled: fault.code === 'canceled',
      waitMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
      cause: fault,
    },
  );
}

function hasDetail(payload: Uint8Array): boolean {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return false; // what is no JSON has no detail
  }
  const error = (json as { error?: unknown } | null)?.error ?? json;
  const details = (error as { details?: unknown } | null)?.details;
  return (
    Array.isArray(details) &&
    details.some(detail => String((detail as { type?: unknown } | null)?.type).endsWith('ErrorDetails'))
  );
}

/** A failure of the connection: what was on its way may be lost, so the run is tried again. */
export function connectionFailure(title: string, message: string, cause?: unknown): AttemptFailure {
  return new AttemptFailure({ code: 'unavailable', title, message, retryable: true }, { cause });
}

/** Something that the other side does not do by the protocol; a second attempt would meet the same. */
export function protocolFailure(message: string, cause?: unknown): AttemptFailure {
  return new AttemptFailure(
    { code: 'invalid_argument', title: 'Not a protocol answer', message, retryable: false },
    { cause },
  );
}

/** Any thrown value as the failure of an attempt. */
export function failureOf(thrown: unknown, doing: string): AttemptFailure {
  if (thrown instanceof AttemptFailure) return thrown;
  if (thrown instanceof Fault) return failureOfFault(thrown);
  return connectionFailure('Connection failed', `${doing}: ${reasonOf(thrown)}`, thrown);
}

/** Whether nobody listens at the address, as far as the transport tells: in a web page it does not. */
export function isRefusal(failure: AttemptFailure): boolean {
  for (let at: unknown = failure, depth = 0; at instanceof Error && depth < CAUSES; depth++) {
    if ((at as { code?: unknown }).code === 'ECONNREFUSED') return true;
    at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : at.cause;
  }
  return false;
}

/** The innermost cause that says something: fetch hides "connection refused" below "fetch failed". */
export function reasonOf(thrown: unknown): string {
  let reason = '';
  for (let at: unknown = thrown, depth = 0; at !== undefined && at !== null && depth < CAUSES; depth++) {
    if (!(at instanceof Error)) {
      reason = typeof at === 'string' && at !== '' ? at : reason;
      break;
    }
    const code = (at as { code?: unknown }).code;
    const words = at.message || (typeof code === 'string' ? code : at.name);
    reason = typeof code === 'string' && !words.includes(code) ? `${words} (${code})` : words;
    if (at instanceof AggregateError && at.errors.length > 0) at = at.errors[0];
    else at = at.cause;
  }
  return reason || 'unknown reason';
}
