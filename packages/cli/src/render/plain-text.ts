/**
 * Text of a model, a tool or a server is not ours: written raw to a terminal it could move the cursor, rewrite what stands there, set the
 * clipboard or read as something else than it is. Nothing of that kind passes here.
 */

/** Whole control sequences: CSI (colours, cursor), OSC and its kin up to their end, and two-character escapes. */
const SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

/** What is left over of such sequences, C0 but tab and line feed, DEL, C1, and marks that turn the direction of reading. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text for a terminal: tabs and line feeds stay, control sequences and controls go, a lone carriage return begins a new line. */
export function plainText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(SEQUENCES, '').replace(CONTROLS, '');
}

/** Text of which every character has to be seen, for a question whether it may run: controls are shown as `\x1b` or `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(CONTROLS, control => {
    const number = control.charCodeAt(0);
    return number < 0x100 ? `\\x${number.toString(16).padStart(2, '0')}` : `\\u${number.toString(16).padStart(4, '0')}`;
  });
}

/** The same as one line of at most `longest` characters. */
export function plainLine(text: string, longest: number): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  const characters = Array.from(line.slice(0, (longest + 1) * 2));
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : line;
}

/** JSON that a terminal can show: what JSON may hold raw but a terminal obeys is escaped. It reads back as the same value. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    control => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
