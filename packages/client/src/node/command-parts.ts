/** Characters with which a command line can do no more than name a program and its arguments. */
const PLAIN = /^[\w./,:@+=%^~*?"' -]+$/;

/** Options of git that stand before its command and take the word behind them. */
const GIT_VALUED: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
]);

/** Whether a line is one command without any shell syntax that starts another or writes to a file. */
export function isPlainCommand(line: string): boolean {
  return PLAIN.test(line);
}

/**
 * The commands that a line may run, as far as they can be told without a shell: it is cut wherever one may begin, also within quotes.
 * Good for refusing, where a part too many does little harm; not for allowing.
 */
function commandParts(line: string): string[] {
  return line
    .split(/[;&|\n()`{}"']+|\$\(|\b(?:then|do|else|xargs|exec|eval|env|command|nohup|time|sudo)\s/)
    .map(part => part.trim().replace(/^(?:[A-Za-z_]\w*=\S*\s+|!\s*)+/, ''))
    .filter(part => part !== '');
}

/**
 * The line and its parts in every way that a refusal may be written against: with single spaces, without quotes and backslashes, a program by
 * its name instead of its path, git without the options before its command.
 */
export function commandForms(line: string): ReadonlySet<string> {
  const joined = line.replaceAll('\\\n', '');
  const bare = joined.replace(/["'\\]/g, '');
  const forms = new Set<string>();
  for (const text of [joined, bare, ...commandParts(joined), ...commandParts(bare)]) {
    const words = text.trim().split(/\s+/);
    forms.add(words.join(' '));
    const [program = '', ...args] = words;
    const named = [program.slice(program.lastIndexOf('/') + 1), ...args];
    forms.add(named.join(' '));
    if (named[0] === 'git') forms.add(withoutGitOptions(named).join(' '));
  }
  return forms;
}

function withoutGitOptions(words: readonly string[]): string[] {
  let at = 1;
  while (words[at]?.startsWith('-') === true) at += GIT_VALUED.has(words[at]!) ? 2 : 1;
  return ['git', ...words.slice(at)];
}
