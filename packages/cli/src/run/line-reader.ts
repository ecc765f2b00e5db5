import { createInterface } from 'node:readline';
import type { Input, Output } from '../surroundings.ts';

/** Where questions are put, and answers come from. */
export interface QuestionPlace {
  /** Shows whole lines that are safe for a terminal. */
  write(text: string): void;
  /** The next line typed below `label`; undefined when there is none any more, or the signal withdraws it. */
  readLine(label: string, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * Lines of a terminal in its usual mode, so Ctrl-C still cancels. What was typed while nothing was asked is dropped: an answer is only what
 * was typed below its question.
 */
export function createLineReader({
  stdin,
  stderr,
}: {
  stdin: Input;
  stderr: Output;
}): QuestionPlace & { close(): void } {
  const lines = createInterface({ input: stdin, terminal: false });
  let onLine: ((line: string | undefined) => void) | undefined;
  let isClosed = false;
  lines.on('line', line => onLine?.(line));
  lines.on('close', () => {
    isClosed = true;
    onLine?.(undefined);
  });
  return {
    write: text => void stderr.write(text),
    readLine: (label, signal) =>
      new Promise(resolve => {
        if (isClosed || signal.aborted) {
          resolve(undefined);
          return;
        }
        const finish = (line: string | undefined) => {
          onLine = undefined;
          signal.removeEventListener('abort', withdraw);
          resolve(line);
        };
        const withdraw = () => {
          stderr.write('(not needed any more)\n');
          finish(undefined);
        };
        stderr.write(label);
        onLine = finish;
        signal.addEventListener('abort', withdraw, { once: true });
      }),
    close: () => lines.close(),
  };
}
