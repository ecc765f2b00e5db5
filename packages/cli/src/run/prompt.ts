import type { Input } from '../surroundings.ts';
import { attachFiles } from './attachments.ts';
import type { Attached } from './attachments.ts';

/** The longest prompt from stdin; a server takes no message above its own limit of 64 MiB. */
const PROMPT_BYTES = 32 * 1024 * 1024;

/** The prompt, or why there is none. */
export type PromptReading = Attached;

/**
 * The prompt of a run: the argument, or stdin when the argument is `-`, or when there is none and stdin is no terminal.
 * What the argument names by `@path` goes along; text from stdin may be anybody's, so it names nothing.
 */
export async function readPrompt(
  argument: string | undefined,
  { stdin, stop, folder }: { stdin: Input; stop: AbortSignal; folder: string },
): Promise<PromptReading> {
  if (argument !== undefined && argument !== '-')
    return argument.trim() === '' ? { problem: 'The prompt is empty.' } : attachFiles(argument, folder);
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
  const prompt = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  return prompt.trim() === ''
    ? { problem: 'There is no prompt: stdin was empty. Give one as in: tandem run "What is in this folder?"' }
    : { prompt, images: [], notices: [] };
}
