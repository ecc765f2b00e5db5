import type { ToolEvent } from '@tandem/client';
import { plainLine, plainText } from './plain-text.ts';

/** The longest line about one call, and the longest line of a command's output: about two rows of a usual terminal. */
const LINE_CHARACTERS = 160;
/** Output up to this many lines is shown whole; of a longer one the beginning and the end. */
export const OUTPUT_LINES = 8;

type Fields = Readonly<Record<string, unknown>>;

/** How a call reads: a verb, and the arguments that say what it is about. */
const TITLES: Readonly<
  Record<string, { verb: string; about: (args: Fields, shown: (path: unknown) => string) => string }>
> = {
  read: { verb: 'Read', about: (args, shown) => shown(args['path']) },
  edit: { verb: 'Edit', about: (args, shown) => shown(args['path']) },
  delete: { verb: 'Delete', about: (args, shown) => shown(args['path']) },
  ls: { verb: 'List', about: (args, shown) => shown(args['path']) },
  glob: { verb: 'Find', about: (args, shown) => inFolder(args['globPattern'], shown(args['targetDirectory'])) },
  grep: { verb: 'Search', about: (args, shown) => inFolder(args['pattern'], shown(args['path'])) },
  shell: { verb: 'Run', about: args => text(args['command']) },
  await: { verb: 'Wait', about: args => text(args['taskId']) },
  mcp: {
    verb: 'Call',
    about: args =>
      [text(args['providerIdentifier']), text(args['toolName']) || text(args['name'])].filter(Boolean).join('/'),
  },
  task: { verb: 'Start agent', about: args => text(args['description']) },
  fetch: { verb: 'Fetch', about: args => text(args['url']) },
  web_fetch: { verb: 'Fetch', about: args => text(args['url']) },
  web_search: { verb: 'Search the web', about: args => text(args['searchTerm']) },
};

/** One line that says what a call does, such as `Read a.txt`. Paths inside `folder` are shown from there. */
export function toolTitle(event: ToolEvent, folder: string): string {
  const title = TITLES[event.name];
  const about = title?.about(event.args ?? {}, path => fromFolder(folder, text(path))) ?? '';
  return plainLine(`${title?.verb ?? words(event.name)} ${about}`, LINE_CHARACTERS);
}

/** Why a call failed, in a line; from whatever branch of its result is set. */
export function toolFailure(event: ToolEvent): string {
  const [branch, value] = branchOf(event);
  if (branch === undefined) return 'failed';
  const exitCode = value['exitCode'];
  if (event.name === 'shell' && branch === 'failure') {
    if (text(value['signal'])) return `ended by ${plainLine(text(value['signal']), LINE_CHARACTERS)}`;
    return `exit code ${typeof exitCode === 'number' ? exitCode : 0}`;
  }
  const reason = ['reason', 'error', 'errorMessage', 'message', 'clientVisibleError', 'modelVisibleError']
    .map(key => text(value[key]))
    .find(Boolean);
  const kind = branch === 'error' ? '' : words(branch).toLowerCase();
  return plainLine([kind, reason].filter(Boolean).join(': ') || 'failed', LINE_CHARACTERS);
}

/** The lines of a command's output to show, the middle of a long one left out. */
export function outputLines(event: ToolEvent): string[] {
  if (event.name !== 'shell') return [];
  const [, value] = branchOf(event);
  const output =
    text(value['interleavedOutput']) || [text(value['stdout']), text(value['stderr'])].filter(Boolean).join('\n');
  const lines = plainText(output).replace(/\n+$/, '').split('\n');
  if (lines.length === 1 && lines[0] === '') return [];
  const shown = lines.map(outputLine);
  if (shown.length <= OUTPUT_LINES) return shown;
  const half = OUTPUT_LINES / 2;
  return [...shown.slice(0, half), `… ${shown.length - 2 * half} more lines`, ...shown.slice(-half)];
}

function branchOf(event: ToolEvent): [string | undefined, Fields] {
  const found = Object.entries(event.result ?? {}).find(
    ([, value]) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  return found ? [found[0], found[1] as Fields] : [undefined, {}];
}

function inFolder(pattern: unknown, folder: string): string {
  return folder === '' || folder === '.' ? text(pattern) : `${text(pattern)} in ${folder}`;
}

function fromFolder(folder: string, path: string): string {
  const root = folder.endsWith('/') ? folder : `${folder}/`;
  return path.startsWith(root) ? path.slice(root.length) || '.' : path === folder ? '.' : path;
}

function words(name: string): string {
  const spaced = name
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1) || 'Tool';
}

/** A line of output, already safe, as wide as it is shown. */
export function outputLine(text: string): string {
  const line = text.replaceAll('\t', '    ');
  return line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS - 1)}…` : line;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
