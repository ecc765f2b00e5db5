import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Everything of the process that a command touches, so that a test needs no process. */
export interface Surroundings {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by the first signal: end in order. */
  readonly stop: AbortSignal;
  /** Aborted by the second one: end now. */
  readonly stopNow: AbortSignal;
}

/** Resolves once the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Writes, and waits while the reader is slow. A stream that broke takes everything and keeps nothing. */
export async function writeTo(output: Output, text: string): Promise<void> {
  if (output.destroyed || output.writableEnded || output.write(text)) return;
  await new Promise<void>(resolve => {
    const finish = () => {
      for (const event of ['drain', 'close', 'error'] as const) output.off(event, finish);
      resolve();
    };
    for (const event of ['drain', 'close', 'error'] as const) output.on(event, finish);
  });
}
