import type { Input } from '../surroundings.ts';

/** The longest prompt from stdin; a server takes no message above its own limit of 64 MiB. */
const PROMPT_BYTES = 32 * 1024 * 1024;

/** The prompt, or why there is none. */
export type PromptReading = { readonly prompt: string } | { readonly problem: string };

/**
 * The prompt of a run: the argument, or stdin when the argument is `-`, or when there is none and stdin is no terminal.
 *
 * @param stop ends the wait for stdin
 */
export async function readPrompt(
  argument: string | undefined,
  stdin: Input,
  stop: AbortSignal,
): Promise<PromptReading> {
  if (argument !== undefined && argument !== '-') return checked(argument, 'The prompt is empty.');
  if (argument === undefined && stdin.isTTY) {
    return { problem: 'There is no prompt. Give one as in: tandem run "What is in this folder?"' };
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  const onStop = () => stdin.destroy();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    for await (const piece of stdin) {
      const buffer = Buffer.from(piece as Uint8Array | string);
      bytes += buffer.length;
      if (bytes > PROMPT_BYTES)
        return { problem: `The prompt on stdin is longer than ${PROMPT_BYTES / 1024 / 1024} MiB.` };
      pieces.push(buffer);
    }
  } catch (error) {
    if (!stop.aborted) return { problem: `The prompt cannot be read from stdin: ${(error as Error).message}.` };
  } finally {
    stop.removeEventListener('abort', onStop);
  }
  // one line end belongs to whoever wrote the line, as `echo` does, and not to the prompt
  return checked(
    Buffer.concat(pieces)
      .toString('utf8')
      .replace(/\r?\n$/, ''),
    'There is no prompt: stdin was empty. Give one as in: tandem run "What is in this folder?"',
  );
}

function checked(prompt: string, problem: string): PromptReading {
  return prompt.trim() === '' ? { problem } : { prompt };
}
