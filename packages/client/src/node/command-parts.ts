/** Characters with which a command line can do no more than name a program and its arguments. */
const PLAIN = /^[\w./,:@+=%^~*?"' -]+$/;

/** Whether a line is one command without any shell syntax that starts another or writes to a file. */
export function isPlainCommand(line: string): boolean {
  return PLAIN.test(line);
}

/**
 * The commands that a line may run, as far as they can be told without a shell: it is cut wherever one may begin, also within quotes.
 * Good for refusing, where a part too many does little harm; not for allowing.
 */
export function commandParts(line: string): string[] {
  return line
    .split(/[;&|\n()`{}"']+|\$\(|\b(?:then|do|else|xargs|exec|eval|env|command|nohup|time|sudo)\s/)
    .map(part => part.trim().replace(/^(?:[A-Za-z_]\w*=\S*\s+|!\s*)+/, ''))
    .filter(part => part !== '');
}
