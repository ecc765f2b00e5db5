import { cutLine } from './excerpt.ts';
import { NEAREST_LINE_CHARACTERS, NEAREST_LINE_SCAN } from './limits.ts';

/** Similarity below which a line is no hint. */
const ALIKE = 0.5;

function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at < line.length - 1; at += 1) {
    const pair = line.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** How alike two lines are, 0 to 1, by the pairs of letters they share. */
function likeness(wanted: Map<string, number>, wantedCount: number, line: string): number {
  let shared = 0;
  const pairs = pairsOf(line);
  for (const [pair, count] of pairs) shared += Math.min(count, wanted.get(pair) ?? 0);
  const total = wantedCount + Math.max(line.length - 1, 0);
  return total === 0 ? 0 : (2 * shared) / total;
}

/**
 * Helps a model whose text is not in the file: says which line of the file comes nearest to the first line of that text, and
 * what the difference looks like when it is only white space or the line numbers of a read. Empty when nothing is near.
 */
export function nearestLineHint(text: string, sought: string): string {
  const soughtLines = sought.split('\n').filter(line => line.trim() !== '');
  const first = soughtLines[0]?.trim().slice(0, NEAREST_LINE_CHARACTERS);
  if (first === undefined) return '';
  if (soughtLines.every(line => /^\s*\d+\|/.test(line))) {
    return 'It begins with line numbers as Read shows them; they are not part of the file, leave them and the bar out.';
  }
  const lines = text.split('\n', NEAREST_LINE_SCAN);
  const same = lines.findIndex(line => line.trim().slice(0, NEAREST_LINE_CHARACTERS) === first);
  if (same >= 0) {
    return `Line ${same + 1} has the text of its first line; compare white space and the lines that follow: ${cutLine(lines[same]!, 200)}`;
  }
  const wanted = pairsOf(first);
  let best = -1;
  let bestLikeness = ALIKE;
  for (const [at, line] of lines.entries()) {
    const short = line.trim().slice(0, NEAREST_LINE_CHARACTERS);
    if ((2 * Math.min(first.length, short.length)) / (first.length + short.length) <= bestLikeness) continue; // cannot win
    const alike = likeness(wanted, Math.max(first.length - 1, 0), short);
    if (alike > bestLikeness) [best, bestLikeness] = [at, alike];
  }
  return best < 0 ? '' : `The nearest line is ${best + 1}: ${cutLine(lines[best]!, 200)}`;
}
