import { cutLine } from './excerpt.ts';
import { LINE_CHARACTERS } from './limits.ts';

/** Lines of a file, the first of which has the number `first`. */
export interface FileLines {
  first: number;
  lines: string[];
}

function numberLines({ first, lines }: FileLines): string {
  return lines.map((line, at) => `${first + at}|${cutLine(line, LINE_CHARACTERS)}`).join('\n');
}

/** How many lines, from one end, fit into `budget` characters; at least one. */
function countFitting(lines: readonly string[], budget: number, fromEnd: boolean): number {
  let count = 0;
  let used = 0;
  while (count < lines.length) {
    const line = fromEnd ? lines[lines.length - 1 - count]! : lines[count]!;
    used += Math.min(line.length, LINE_CHARACTERS) + 8; // the number, the bar, the line end
    if (used > budget && count > 0) break;
    count += 1;
  }
  return count;
}

/**
 * Lines as `NUMBER|text`, head and tail when they are more than `limit` characters; what is left out is named in characters
 * and in line numbers, so that the next read can ask for it (R34).
 */
export function numberedText(file: FileLines, limit: number): string {
  const { first, lines } = file;
  const head = countFitting(lines, (limit * 3) / 4, false);
  const rest = lines.slice(head);
  if (rest.length === 0) return numberLines(file);
  const tail = countFitting(rest, limit / 4, true);
  if (tail === rest.length) return numberLines(file);
  const middle = rest.slice(0, rest.length - tail);
  const characters = middle.reduce((sum, line) => sum + line.length + 1, 0);
  const from = first + head;
  const to = from + middle.length - 1;
  return [
    numberLines({ first, lines: lines.slice(0, head) }),
    `… lines ${from} to ${to} left out (${characters} characters); read them with offset ${from} …`,
    numberLines({ first: to + 1, lines: rest.slice(-tail) }),
  ].join('\n');
}
