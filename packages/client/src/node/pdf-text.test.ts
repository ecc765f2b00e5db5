import { ReadArgsSchema, WriteArgsSchema } from '@tandem/protocol/agent';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { makePdf, makeSwellingPdf } from '../../test/pdf.ts';
import { readPdfText } from './pdf-text.ts';
import { readExecutor } from './read.ts';
import { writeExecutor } from './write.ts';

const { signal } = new AbortController();
const PASSWORD =
  `/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >> ` +
  `/ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>]`;

async function read(bytes: Uint8Array, args: { offset?: number; limit?: number } = {}) {
  const { machine } = makeMachine({ 'a.pdf': bytes });
  return branchOf((await runExecutor(readExecutor(machine), ReadArgsSchema, { path: 'a.pdf', ...args }))[0]);
}

it('[§10.2-read-pdf] gives the text of a PDF, page after page, with ranges and the size on disk', async () => {
  const bytes = makePdf([['Invoice 4711', 'Total: 12 EUR'], ['Thank you']]);
  const whole = 'Invoice 4711\nTotal: 12 EUR\n\nThank you';
  expect(await read(bytes)).toMatchObject([
    'success',
    { output: { value: whole }, totalLines: 4, fileSize: BigInt(bytes.length), truncated: false, rangeApplied: false },
  ]);
  expect(await read(bytes, { offset: 2, limit: 1 })).toMatchObject([
    'success',
    { output: { value: 'Total: 12 EUR' }, totalLines: 4, rangeApplied: true },
  ]);
});

it.each([
  ['is encrypted', makePdf([['secret']], PASSWORD), /^The PDF is encrypted/],
  ['is rubbish', Buffer.from('%PDF-1.7\nthis is no PDF at all'), /^The PDF is damaged: /],
  ['was cut off', makePdf([['Hello']]).subarray(0, 250), /^The PDF is damaged: /],
  ['has no text', makePdf([[], []]), /^The PDF has no text in its 2 pages/],
])('[§10.2-read-pdf] refuses a PDF that %s, and says so', async (_what, bytes, reason) => {
  expect(await read(bytes)).toMatchObject(['invalidFile', { reason: expect.stringMatching(reason) }]);
});

it('[§10.2-read-pdf] gives what was read when the text is too long or the time is over, and marks it as cut', async () => {
  const pages = Array.from({ length: 20 }, (_, index) => [`page ${index} ${'x'.repeat(100)}`]);
  const cut = await readPdfText(makePdf(pages), { length: 500, signal });
  expect(cut).toMatchObject({ whole: false, text: expect.stringMatching(/^page 0 x/) });
  expect(await readPdfText(makePdf(pages), { length: 1e6, signal, deadline: 0 })).toEqual({
    refused: 'The PDF could not be read within 0 ms',
  });
  expect(await readPdfText(new Uint8Array(64 * 1024 * 1024 + 1), { length: 1, signal })).toMatchObject({
    refused: expect.stringMatching(/bytes long, more than/),
  });
});

it('[§10.2-read-pdf] stops a small PDF that unpacks into more memory than it may take', async () => {
  expect(await readPdfText(await makeSwellingPdf(900), { length: 1e6, signal })).toEqual({
    refused: 'The PDF needs more than 512 MiB of memory to be read',
  });
  expect(await readPdfText(await makeSwellingPdf(20), { length: 1e6, signal })).toMatchObject({
    refused: expect.stringMatching(/^The PDF has no text in its one page/),
  });
}, 120_000);

it('stops reading a PDF when the exec is aborted', async () => {
  const controller = new AbortController();
  const reading = readPdfText(makePdf([['x']]), { length: 10, signal: controller.signal });
  controller.abort(new Error('aborted by the server'));
  await expect(reading).rejects.toThrow('aborted by the server');
});

it('[§10.2-read-pdf] is not overwritten by the text that a read gave of it', async () => {
  const bytes = makePdf([['Hello']]);
  const { machine, file } = makeMachine({ 'a.pdf': bytes });
  const args = { path: 'a.pdf', fileText: 'Hello, edited' };
  expect(branchOf((await runExecutor(writeExecutor(machine), WriteArgsSchema, args))[0])).toMatchObject([
    'error',
    { error: expect.stringContaining('is a PDF') },
  ]);
  expect(readFileSync(file('a.pdf')).equals(bytes)).toBe(true);
});
