import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import type { StructuredPatchHunk } from 'diff';
import { DIFF_CHARACTERS, DIFF_EDITS, DIFF_LINES } from './limits.ts';

/** Unchanged lines shown around a change, as is usual. */
const CONTEXT = 3;

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
  const patch = {
    oldFileName: from,
    newFileName: to,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: findHunks(before ?? '', after),
  };
  const lines = patch.hunks.flatMap(hunk => hunk.lines);
  const diff = {
    linesAdded: lines.filter(line => line.startsWith('+')).length,
    linesRemoved: lines.filter(line => line.startsWith('-')).length,
  };
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (length > DIFF_CHARACTERS) return diff;
  return { ...diff, diffString: lines.length === 0 ? '' : formatPatch(patch, FILE_HEADERS_ONLY) };
}

/**
 * The changed places. Only what lies between the common head and the common tail is searched, so that a small change in a large
 * file costs little; when that is long, or differs in too many lines, it is one block.
 */
function findHunks(before: string, after: string): StructuredPatchHunk[] {
  if (before === after) return [];
  const old = before.split('\n');
  const now = after.split('\n');
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const changed = old.length + now.length - 2 * (head + tail);
  const first = Math.max(0, head - CONTEXT);
  const section = (lines: string[]) => {
    const end = Math.min(lines.length, lines.length - tail + CONTEXT);
    return lines.slice(first, end).join('\n') + (end < lines.length ? '\n' : '');
  };
  const options = { context: CONTEXT, maxEditLength: DIFF_EDITS };
  const found =
    changed > DIFF_LINES
      ? undefined
      : structuredPatch('', '', section(old), section(now), undefined, undefined, options);
  if (!found) return [blockHunk(head, linesOf(old, head, tail), linesOf(now, head, tail))];
  return found.hunks.map(hunk => ({ ...hunk, oldStart: hunk.oldStart + first, newStart: hunk.newStart + first }));
}

/** The lines between head and tail; the empty piece after a last line end is none. */
function linesOf(lines: string[], head: number, tail: number): string[] {
  const between = lines.slice(head, lines.length - tail);
  return tail === 0 && between.at(-1) === '' ? between.slice(0, -1) : between;
}

function blockHunk(head: number, removed: string[], added: string[]): StructuredPatchHunk {
  return {
    oldStart: head + 1,
    oldLines: removed.length,
    newStart: head + 1,
    newLines: added.length,
    lines: [...removed.map(line => `-${line}`), ...added.map(line => `+${line}`)],
  };
}
