import { parentPort, workerData } from 'node:worker_threads';
import { getDocumentProxy } from 'unpdf';
import type { PdfNews } from './pdf-text.ts';

/** Reads a PDF page by page, in a thread of its own: what a file makes a reader do must not stop everything else. */
async function readPages(bytes: Uint8Array, send: (news: PdfNews) => void): Promise<void> {
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    let text = '';
    for (const item of (await page.getTextContent()).items) {
      if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    }
    page.cleanup();
    send({ text, pages: document.numPages });
  }
}

const send = (news: PdfNews) => parentPort!.postMessage(news);
try {
  await readPages(workerData as Uint8Array, send);
} catch (error) {
  // Its errors are of classes that do not come through to another thread.
  const { name, message } = error as Error;
  send({ problem: name === 'PasswordException' ? 'encrypted' : 'damaged', message });
}
