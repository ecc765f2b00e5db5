import { create } from '@bufbuild/protobuf';
import { PiTruncationSchema } from '@tandem/protocol/agent';
import type { PiTruncation } from '@tandem/protocol/agent';

/** What one answer of this family holds at most: this family's tools are made for short answers, read on by offset. */
const MAX_LINES = 2_000;
const MAX_BYTES = 50 * 1024;

/** Text cut to the family's bounds at whole lines, and how; `truncation` is absent when nothing was cut. */
export interface Truncated {
  text: string;
  truncation?: PiTruncation;
}

/** Keeps the first lines, as a file is read. */
export function keepHead(text: string, maxLines: number = MAX_LINES): Truncated {
  return keep(text.split('\n'), maxLines, lines => lines);
}

/** Keeps the last lines, as a command's output is looked at. */
export function keepTail(text: string): Truncated {
  return keep(text.split('\n').reverse(), MAX_LINES, lines => lines.reverse());
}

function keep(lines: string[], maxLines: number, inOrder: (lines: string[]) => string[]): Truncated {
  const kept: string[] = [];
  let bytes = 0;
  let cutBy = '';
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (kept.length >= maxLines) cutBy = 'lines';
    else if (bytes + size > MAX_BYTES + 1) cutBy = 'bytes';
    if (cutBy !== '') break;
    kept.push(line);
    bytes += size;
  }
  if (cutBy === '') return { text: inOrder(kept).join('\n') };
  const isOneTooLong = kept.length === 0;
  // A single endless line is shown in part, since nothing would be of less use.
  if (isOneTooLong)
    kept.push(
      Buffer.from(lines[0] ?? '')
        .subarray(0, MAX_BYTES)
        .toString('utf8')
        .replace(/\ufffd$/, ''),
    );
  const text = inOrder(kept).join('\n');
  const truncation = create(PiTruncationSchema, {
    truncated: true,
    truncatedBy: cutBy,
    totalLines: lines.length,
    outputLines: kept.length,
    outputBytes: Buffer.byteLength(text),
    maxLines,
    maxBytes: MAX_BYTES,
    firstLineExceedsLimit: isOneTooLong,
    lastLinePartial: isOneTooLong,
  });
  return { text, truncation };
}
