import { readFileSync, statSync } from 'node:fs';

/** A longer change is folded: its beginning, and how much is left out. */
const LINES = 24;
const LINE_CHARACTERS = 160;
/** A longer file is not compared: what would be written is shown alone. */
const FILE_BYTES = 1024 * 1024;
/** Lines around a change that stay as they are. */
const AROUND = 1;

/**
 * What a write would do to the file at `path`, for a person who decides on it: the lines that go and those that come, the first `LINES` of them.
 * Lines are as they are, so whoever shows them has to make them safe. Empty when nothing would change.
 */
export function changeText(path: string, contents: string): string[] {
  const before = linesOf(readBefore(path));
  const after = linesOf(contents);
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  if (head === before.length && head === after.length) return [];
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const from = Math.max(0, head - AROUND);
  const end = after.length - tail;
  const lines = [
    ...(from > 0 ? [`… ${from} lines above stay`] : []),
    ...before.slice(from, head).map(line => ` ${line}`),
    ...before.slice(head, before.length - tail).map(line => `-${line}`),
    ...after.slice(head, end).map(line => `+${line}`),
    ...after.slice(end, end + AROUND).map(line => ` ${line}`),
  ].map(line => (line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS - 1)}…` : line));
  return lines.length <= LINES ? lines : [...lines.slice(0, LINES - 1), `… ${lines.length - LINES + 1} more lines`];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** The text that is there now; empty where there is none that can be compared. */
function readBefore(path: string): string {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= FILE_BYTES ? readFileSync(path, 'utf8').replaceAll('\r\n', '\n') : '';
  } catch {
    return ''; // there is no such file yet, or the write itself will say what is wrong
  }
}
