import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import type { StructuredPatch } from 'diff';
import { DIFF_CHARACTERS, DIFF_EDITS } from './limits.ts';

/** How a file changed, as an edit card shows it (R31). */
export interface EditDiff {
  linesAdded: number;
  linesRemoved: number;
  /** Unified diff; absent when it would be longer than DIFF_CHARACTERS. */
  diffString?: string;
}

/** Compares two texts; `before` is undefined for a new file. */
export function diffTexts(path: string, before: string | undefined, after: string): EditDiff {
  const from = before === undefined ? '/dev/null' : `a/${path.replace(/^\/+/, '')}`;
  const to = `b/${path.replace(/^\/+/, '')}`;
  const patch =
    structuredPatch(from, to, before ?? '', after, undefined, undefined, { context: 3, maxEditLength: DIFF_EDITS }) ??
    blockPatch(from, to, before ?? '', after);
  const lines = patch.hunks.flatMap(hunk => hunk.lines);
  const diff = {
    linesAdded: lines.filter(line => line.startsWith('+')).length,
    linesRemoved: lines.filter(line => line.startsWith('-')).length,
  };
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (length > DIFF_CHARACTERS) return diff;
  return { ...diff, diffString: lines.length === 0 ? '' : formatPatch(patch, FILE_HEADERS_ONLY) };
}

/** Everything between the common head and the common tail as one block: for texts too different for the search. */
function blockPatch(from: string, to: string, before: string, after: string): StructuredPatch {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  return {
    oldFileName: from,
    newFileName: to,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [
      {
        oldStart: head + 1,
        oldLines: removed.length,
        newStart: head + 1,
        newLines: added.length,
        lines: [...removed.map(line => `-${line}`), ...added.map(line => `+${line}`)],
      },
    ],
  };
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
