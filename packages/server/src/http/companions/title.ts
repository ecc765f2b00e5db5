/** A title is read at a glance in a list: six words, and no more characters than one line of it has. */
const TITLE_WORDS = 6;
const TITLE_CHARACTERS = 60;

/** Marks that models put around or in front of a title. */
const OPENING = /^(?:[\s"'`*_#>“”„«»‘’「『([-]|title\s*:)+/i;
const CLOSING = /[\s"'`*_.,;:“”«»‘’」』)\]-]+$/;

/** The title of a conversation that nothing is known of. */
export const NO_TITLE = 'New conversation';

/** The first line of a model's answer as a title: without quotes and marks, at most six words; empty when nothing is left. */
export function readTitle(answer: string): string {
  for (const line of answer.split(/[\r\n]+/)) {
    const title = shorten(line.replace(OPENING, '').replace(CLOSING, ''));
    if (title !== '') return title;
  }
  return '';
}

/** A title from the first words of a message, for when no model gives one. */
export function plainTitle(message: string): string {
  const line = message.split(/[\r\n]+/).find(text => /[\p{L}\p{N}]/u.test(text)) ?? '';
  return shorten(line) || NO_TITLE;
}

function shorten(line: string): string {
  // a control character in a title would end up on somebody's terminal
  const words = line
    .replace(/[\p{Cc}\p{Cf}]/gu, ' ')
    .trim()
    .split(/\s+/)
    .slice(0, TITLE_WORDS);
  return Array.from(words.join(' ')).slice(0, TITLE_CHARACTERS).join('').replace(CLOSING, '');
}
