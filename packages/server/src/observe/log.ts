import { createRequire } from 'node:module';
import type pino from 'pino';
import { capLines } from './log-cap.ts';
import { redactText } from './secret-text.ts';

/** What stands beside the text of a log line. Values are plain JSON; a Secret prints as `[redacted]`. */
type LogFields = Readonly<Record<string, unknown>>;

/** Where everybody writes what a person who runs the server should know. Never on stdout, never with secrets. */
export interface Log {
  debug(fields: LogFields, text: string): void;
  info(fields: LogFields, text: string): void;
  warn(fields: LogFields, text: string): void;
  error(fields: LogFields, text: string): void;
}

export type LogLevel = keyof Log | 'silent';

/** From the most that is said to nothing. */
export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** A log that writes nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * A log of one JSON object a line, to stderr, written at once so that a crash loses nothing. What looks like a key or a token is
 * `[redacted]`, at any depth; of an error its name, message and stack are kept, and those of its causes. Lines and what they
 * come to in a minute are bounded.
 *
 * @param write takes one whole line with its line end; stderr when absent
 * @param now milliseconds since the epoch, for the bound of a minute
 */
export async function createLog(
  level: LogLevel,
  write?: (line: string) => void,
  now: () => number = Date.now,
): Promise<Log> {
  if (level === 'silent') return silentLog;
  let logger: pino.Logger | undefined;
  const line = (name: keyof Log) => (fields: LogFields, text: string) => {
    if (LOG_LEVELS.indexOf(name) < LOG_LEVELS.indexOf(level)) return;
    // loaded with the first line: a server that has nothing to say starts without it
    logger ??= openLogger(level, write, now);
    logger[name](cleanFields(fields), redactText(text));
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

function openLogger(level: LogLevel, write: ((line: string) => void) | undefined, now: () => number): pino.Logger {
  const pino = createRequire(import.meta.url)('pino') as typeof import('pino').pino;
  const destination = write ? { write } : pino.destination({ dest: 2, sync: true });
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: label => ({ level: label }) } },
    { write: capLines(line => void destination.write(line), now) },
  );
}

/** Deeper values are left out: nothing that belongs into a log line is nested like this. */
const DEEPEST = 6;

function cleanFields(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, clean(value, 0)]));
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '…';
  if (value instanceof Error) return cleanError(value, depth);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return clean(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map(item => clean(item as unknown, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item as unknown, depth + 1)]));
}

function cleanError(error: Error, depth: number): Record<string, unknown> {
  return {
    name: error.name,
    message: redactText(error.message),
    ...(error.stack !== undefined && { stack: redactText(error.stack) }),
    ...(error.cause !== undefined && { cause: clean(error.cause, depth + 1) }),
  };
}
