/** Characters that take two columns: East Asian wide and full-width ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
/** Characters that take none: combining marks, joiners and variation selectors. */
const NO_WIDTH = /\p{Mn}|\p{Me}|[\u200b-\u200d]|[\ufe00-\ufe0f]/u;

/** How many columns a character takes on a terminal. */
export function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** How many columns a text takes that has no control and no colour in it. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The beginning of a text that fits into so many columns. */
export function fitText(text: string, columns: number): string {
  let width = 0;
  let fitting = '';
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns) break;
    fitting += character;
  }
  return fitting;
}

/** A text without the colours that we gave it; it has no other controls. */
export function stripColours(text: string): string {
  return text.replace(/\x1b\[[0-9;]*m/g, '');
}
