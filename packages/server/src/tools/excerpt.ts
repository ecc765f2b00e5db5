/** Shortening of texts for the model (R34). */

/** A code point is never cut in two (P22). */
const startsInside = (text: string, at: number) => at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at]!);

/** The first `count` characters, without half a code point at the end. */
export function headOf(text: string, count: number): string {
  return text.slice(0, startsInside(text, count) ? count - 1 : count);
}

/** The last `count` characters, without half a code point at the start. */
export function tailOf(text: string, count: number): string {
  const at = Math.max(0, text.length - count);
  return text.slice(startsInside(text, at) ? at + 1 : at);
}

/** The line that stands for what was left out. */
export function elisionMark(characters: number): string {
  return `\n… ${characters} characters left out …\n`;
}

/** Head and tail of a text above `limit` characters, with the number of characters left out between them (R34). */
export function excerptOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = headOf(text, Math.ceil((limit * 2) / 3));
  const tail = tailOf(text, Math.floor(limit / 3));
  return head + elisionMark(text.length - head.length - tail.length) + tail;
}

/** A line cut at `limit` characters, saying how long it was. */
export function cutLine(line: string, limit: number): string {
  if (line.length <= limit) return line;
  return `${headOf(line, limit)}… (line of ${line.length} characters)`;
}
