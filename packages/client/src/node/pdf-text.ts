import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from './workspace.ts';

/** What the thread that reads tells: the text of a page and how many there are, or why it cannot go on. */
export type PdfNews = { text: string; pages: number } | { problem: 'encrypted' | 'damaged'; message: string };

/** Longest PDF that is opened, in bytes, and how long its reading may take, in milliseconds. */
const FILE_CAP = 64 * 1024 * 1024;
const DEADLINE = 20_000;

/** Memory of the thread that reads, in MiB, and how often it is looked at, in milliseconds. */
const MEMORY = 512;
const MEMORY_EVERY = 20;
const TOO_MUCH = `The PDF needs more than ${MEMORY} MiB of memory to be read`;

/**
 * The text of a PDF, its pages parted by empty lines; `whole` is false when it was cut after `length` characters or at the deadline. Without text it
 * says why there is none. Rejects only with the reason of an abort.
 */
export async function readPdfText(
  bytes: Uint8Array,
  { length, signal, deadline = DEADLINE }: { length: number; signal: AbortSignal; deadline?: number },
): Promise<{ text: string; whole: boolean } | { refused: string }> {
  if (bytes.length > FILE_CAP) return { refused: `The PDF is ${bytes.length} bytes long, more than ${FILE_CAP}` };
  signal.throwIfAborted();
  let pages = 0;
  const texts: string[] = [];
  let taken = 0;
  const worker = new Worker(new URL(`./pdf-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY },
    // Its warnings are about the file, and concern nobody.
    stdout: true,
    stderr: true,
  });
  let refused: string | undefined;
  let watch: NodeJS.Timeout | undefined;
  const whole = await new Promise<boolean>(resolve => {
    const timer = setTimeout(() => {
      if (texts.length === 0) refused = `The PDF could not be read within ${deadline} ms`;
      resolve(false);
    }, deadline);
    signal.addEventListener('abort', () => resolve(false), { once: true });
    // The limit of the thread is one on its objects; what a stream of the file unpacks into lies beside them.
    watch = setInterval(() => {
      void worker.getHeapStatistics().then(
        ({ total_heap_size: heap, external_memory: beside }) => {
          if (heap + beside <= MEMORY * 1024 * 1024) return;
          refused = TOO_MUCH;
          resolve(false);
        },
        () => undefined, // it has just ended
      );
    }, MEMORY_EVERY);
    worker.on('message', (news: PdfNews) => {
      if ('problem' in news) refused = wordsOf(news);
      else {
        pages = news.pages;
        texts.push(news.text.replace(/\n+$/, ''));
        taken += news.text.length;
        if (taken > length) resolve(false);
      }
    });
    worker.on('error', error => {
      const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      refused = isMemory ? TOO_MUCH : wordsOf({ problem: 'damaged', message: messageOf(error) });
    });
    worker.on('exit', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
  clearInterval(watch);
  await worker.terminate();
  signal.throwIfAborted();
  if (refused !== undefined) return { refused };
  const text = texts.join('\n\n');
  if (text.trim() === '')
    return { refused: `The PDF has no text in its ${count(pages)}; they may be pictures of text` };
  return { text, whole };
}

function wordsOf({ problem, message }: { problem: 'encrypted' | 'damaged'; message: string }): string {
  if (problem === 'encrypted') return 'The PDF is encrypted, and its password is not known here';
  return `The PDF is damaged: ${message}`;
}

function count(pages: number): string {
  return pages === 1 ? 'one page' : `${pages} pages`;
}
