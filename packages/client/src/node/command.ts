import { commandForms } from './command-parts.ts';

/** Characters with which a command line can do no more than name a program and its arguments. */
const PLAIN = /^[\w./,:@+=% -]+$/;

/** Programs that only look, whatever their arguments; with the arguments that make an exception. */
const LOOKING: ReadonlyMap<string, RegExp | undefined> = new Map<string, RegExp | undefined>([
  ['basename', undefined],
  ['cat', undefined],
  ['cmp', undefined],
  ['cut', undefined],
  ['df', undefined],
  ['diff', undefined],
  ['dirname', undefined],
  ['du', undefined],
  ['echo', undefined],
  ['false', undefined],
  ['file', /^(-(?!-).*[CSzZ]|--(c|unc|no-s))/],
  ['grep', undefined],
  ['head', undefined],
  ['id', undefined],
  ['ls', undefined],
  ['nl', undefined],
  ['pwd', undefined],
  ['readlink', undefined],
  ['realpath', undefined],
  ['stat', undefined],
  ['tail', undefined],
  ['tree', /^(-(?!-).*[oR]|--o)/],
  ['true', undefined],
  ['uname', undefined],
  ['wc', undefined],
  ['which', undefined],
  ['whoami', undefined],
]);

/** Subcommands of git that only look; some take arguments that write or run something. */
const GIT_LOOKING: ReadonlySet<string> = new Set([
  'status',
  'log',
  'diff',
  'show',
  'rev-parse',
  'ls-files',
  'blame',
  'describe',
]);
/** Options of these that write or run something; git takes them shortened, too. */
const GIT_EXCEPT = /^(-o|--o(?!neline$)|--ext|--textc|-O|--exec)/;
const GIT_LISTING = /^git (branch( (-a|-r|-v|-vv|--list|--show-current))*|remote( -v)?|tag( (-l|--list))?|stash list)$/;

/**
 * Programs whose version may be asked. Those that first fetch or run what the workspace names are missing: yarn, pnpm, go, cargo, rustc; so are
 * words that others take for a script, such as `make version`.
 */
const VERSIONED =
  /^((node|npm|deno|bun|python3?|pip3?|java|javac|gcc|clang|make|cmake|git|docker|ruby|php) --version|(node|npm|ruby|php|git|docker) -v|(git|docker) version)$/;

/**
 * Whether a command is known to change nothing: one program of a small list, no shell syntax at all. A command that is not known is not
 * harmful for that, only not allowed when a run is read-only.
 */
export function isHarmless(command: string): boolean {
  const line = command.trim();
  if (!PLAIN.test(line)) return false;
  if (GIT_LISTING.test(line)) return true;
  if (VERSIONED.test(line)) return true;
  const [program = '', ...args] = line.split(/ +/);
  if (program === 'git') return GIT_LOOKING.has(args[0] ?? '') && !args.some(arg => GIT_EXCEPT.test(arg));
  if (!LOOKING.has(program)) return false;
  const except = LOOKING.get(program);
  return except === undefined || !args.some(arg => except.test(arg));
}

/** Commands that are never run without asking, with what is wrong about them. The list stops accidents; it is no sandbox. */
const DENIED: readonly (readonly [RegExp, string])[] = [
  [/(^|[\s;&|(])(sudo|doas|pkexec|su)(\s|$)/, "it asks for another user's rights"],
  [
    /(^|[\s;&|(])rm\s+(-\S+\s+)*(--\s+)?["']?(\/|\/\*|~|~\/|~\/\*|\$HOME\/?\*?|\$\{HOME\}\/?\*?)["']?(\s|$|[;&|)])/,
    'it removes a whole disk or home folder',
  ],
  [/(^|[\s;&|(])(mkfs(\.\w+)?|fdisk|parted|wipefs|mkswap)(\s|$)/, 'it rewrites a disk'],
  [/(^|[\s;&|(])dd\s[^;&|]*\bof=\/dev\//, 'it writes to a device'],
  [/>\s*\/dev\/(sd|hd|nvme|vd|disk|mem)/, 'it writes to a device'],
  [/(^|[\s;&|(])(shutdown|reboot|halt|poweroff)(\s|$)/, 'it stops the machine'],
  [
    /(^|[\s;&|(])(chmod|chown|chgrp)\s+(-\S+\s+)*-\w*R\w*\s+(-\S+\s+)*\S+\s+(\/|~|\$HOME)\/?(\s|$)/,
    'it changes the rights of a whole disk or home folder',
  ],
  [/:\s*\(\s*\)\s*\{.*\|.*&.*\}\s*;/, 'it multiplies without end'],
  [/\b(curl|wget)\b[^;&]*\|\s*(sudo\s+)?(env\s+)?(ba|z|da|k)?sh\b/, 'it runs what it downloads unseen'],
];

/**
 * Why a command is on the denylist; undefined when it is not. `more` are patterns of an administrator: a line is denied when a command in it is
 * one of them, begins with one and a space, or matches one in which `*` stands for anything.
 */
export function deniedBecause(command: string, more: readonly string[] = []): string | undefined {
  for (const [pattern, reason] of DENIED) if (pattern.test(command)) return `the command is on the denylist: ${reason}`;
  const forms = [command.trim(), ...commandForms(command)];
  for (const pattern of more) {
    const parts = pattern
      .trim()
      .split('*')
      .map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    if (pattern.trim() === '') continue;
    const wanted = new RegExp(`^${parts.join('[\\s\\S]*')}(\\s[\\s\\S]*)?$`);
    if (forms.some(form => wanted.test(form))) {
      return `the command is on the administrator's denylist (${pattern})`;
    }
  }
  return undefined;
}
