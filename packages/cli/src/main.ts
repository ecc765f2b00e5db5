import { runCommandLine } from './command-line.ts';
import { EXIT } from './exit-code.ts';
import { createInterrupts } from './interrupts.ts';

/** What a command may take to leave after the second signal; it may hang in something that no signal reaches. */
const LEAVE_MS = 2_000;

/** The whole command as a process: signals in, exit code out. Never returns to its caller with work left. */
export async function main(argv: readonly string[]): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const interrupts = createInterrupts();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupts.note());
  // a reader that went away, as `| head` does, wants no more: end in order
  let isReaderGone = false;
  for (const stream of [stdout, stderr]) {
    stream.on('error', error => {
      isReaderGone ||= (error as NodeJS.ErrnoException).code === 'EPIPE';
      interrupts.note();
    });
  }
  interrupts.stopNow.addEventListener('abort', () => setTimeout(() => process.exit(EXIT.cancelled), LEAVE_MS).unref());

  let exitCode: number;
  try {
    const { stop, stopNow } = interrupts;
    exitCode = await runCommandLine(argv, { stdin, stdout, stderr, env, cwd: process.cwd(), stop, stopNow });
  } catch (error) {
    stderr.write(`tandem: something is wrong with tandem itself: ${textOf(error)}\n`);
    exitCode = EXIT.failed;
  }
  await Promise.all([stdout, stderr].map(written));
  // whoever took all that he wanted has not cancelled anything
  process.exit(isReaderGone && exitCode === EXIT.cancelled ? EXIT.done : exitCode);
}

/** Resolves when everything written so far has left, or never will. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise(resolve => {
    if (stream.destroyed || stream.writableEnded) resolve();
    else stream.write('', () => resolve());
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
