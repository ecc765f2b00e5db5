import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** Harmless programs that, given a folder or one of these options, go through all that is below. */
const RECURSIVE: ReadonlySet<string> = new Set(['grep', 'diff']);
const RECURSIVE_OPTION = /^(-(?!-).*[rRd]|--(rec|der|dir))/;

/** Commands of git that give no content, only names and states. */
const GIT_NAMES: ReadonlySet<string> = new Set([
  'rev-parse',
  'ls-files',
  'describe',
  'branch',
  'remote',
  'tag',
  'stash',
  '--version',
  '-v',
  'version',
]);
const GIT_LOG_NAMES = /^(--oneline|--stat|--graph|--decorate|--all|-\d+|-n|-n\d+|[^-].*)$/;

/**
 * The paths that a harmless command may mean, absolute, as they were named and with links followed: each argument, and each end of an option
 * that may be a value. That something is no path does no harm.
 */
export function namedPaths(command: string, workingDirectory: string): string[] {
  const words = command.trim().split(/ +/).slice(1);
  const names = words.flatMap(word => {
    if (!word.startsWith('-')) return [word, ...ends(word, /[=:]/)];
    return word.startsWith('--') ? ends(word, /=/) : Array.from({ length: word.length }, (_, at) => word.slice(at));
  });
  return [...new Set(names.filter(name => name !== ''))].flatMap(name => {
    const path = resolve(workingDirectory, name);
    return [path, realOf(path)];
  });
}

/** Whether a harmless command gives content of no other files than those it names: not of a whole folder, not of the history of a repository. */
export function readsOnlyNamed(command: string, workingDirectory: string): boolean {
  const [program = '', ...args] = command.trim().split(/ +/);
  if (program === 'git') {
    const [subcommand = '', ...rest] = args;
    if (subcommand === 'status') return !rest.some(arg => /^(-(?!-).*v|--v)/.test(arg));
    return GIT_NAMES.has(subcommand) || (subcommand === 'log' && rest.every(arg => GIT_LOG_NAMES.test(arg)));
  }
  if (!RECURSIVE.has(program)) return true;
  return !args.some(arg => RECURSIVE_OPTION.test(arg) || isFolder(resolve(workingDirectory, arg)));
}

function ends(word: string, mark: RegExp): string[] {
  const at = word.search(mark);
  return at < 0 ? [] : [word.slice(at + 1)];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // nothing is there that could be read
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
