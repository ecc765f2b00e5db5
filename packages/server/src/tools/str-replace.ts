import { z } from 'zod';
import { editCard, editError, editFile, wireText } from './edit.ts';
import type { EditChange } from './edit.ts';
import { nearestLineHint } from './nearest-line.ts';
import { failure, withFailures } from './outcome.ts';
import type { Tool } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  path: z.string().min(1).describe('File to change, absolute or from the workspace folder.'),
  old_string: z
    .string()
    .describe(
      'Text to replace, exactly as in the file, white space included. Must be there once only, unless replace_all.',
    ),
  new_string: z.string().describe('Text to put in its place; empty to remove it.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence. Default: false.'),
});
type StrReplaceArguments = z.infer<typeof schema>;

/** Replaces text in a file: a hidden read, the change made here, a hidden write, one edit card (R31). */
export const strReplaceTool: Tool<StrReplaceArguments> = {
  name: 'StrReplace',
  aliases: [
    'str_replace',
    'Edit',
    'edit_file',
    'EditFile',
    'search_replace',
    'str_replace_editor',
    'str_replace_based_edit_tool',
  ],
  argumentAliases: {
    file_path: 'path',
    filePath: 'path',
    target_file: 'path',
    file: 'path',
    old_str: 'old_string',
    oldString: 'old_string',
    new_str: 'new_string',
    newString: 'new_string',
    replaceAll: 'replace_all',
  },
  card: 'editToolCall',
  description: [
    'Replaces text in a file. old_string must match exactly and occur once: take in enough lines around it to make it unique,',
    'or set replace_all. Read the file first; leave out the line numbers that Read adds.',
  ].join(' '),
  schema,
  open: ({ path = '', new_string }, { facts }) => editCard(path, new_string, facts),
  close: ({ path = '', new_string }, message, { facts }) =>
    editCard(path, new_string, facts, editError(workspacePath(path, facts), message)),
  execute(args, context) {
    return withFailures(strReplaceTool, args, context, async () => {
      const sought = wireText(args.old_string);
      const replacement = wireText(args.new_string);
      if (sought === replacement) {
        const message = 'old_string and new_string are the same text; nothing was changed.';
        return failure(strReplaceTool.close(args, message, context), message);
      }
      const change = replaceText(args.path, sought, replacement, args.replace_all ?? false);
      return editFile(context, args.path, args.new_string, change);
    });
  },
};

function replaceText(path: string, sought: string, replacement: string, all: boolean): EditChange {
  return before => {
    if (sought === '') {
      if (before === undefined || before === '') return { after: replacement, summary: `Made ${path}` };
      return {
        refusal: `old_string is empty, and ${path} is not. Name the text to replace, or use Write for the whole file.`,
      };
    }
    if (before === undefined) return { refusal: `File not found: ${path}. Use Write to make it.` };
    const pieces = before.split(sought);
    const count = pieces.length - 1;
    if (count === 0) {
      const hint = nearestLineHint(before, sought);
      return { refusal: `old_string was not found in ${path}; nothing was changed.${hint ? ` ${hint}` : ''}` };
    }
    if (count > 1 && !all) {
      return {
        refusal: `old_string occurs ${count} times in ${path} (lines ${linesOfMatches(pieces, sought)}); nothing was changed. Make it unique with more of the text around it, or set replace_all.`,
      };
    }
    const times = count === 1 ? 'once' : `${count} times`;
    return { after: pieces.join(replacement), summary: `Replaced ${times} in ${path}` };
  };
}

/** The line numbers where the first matches begin. */
function linesOfMatches(pieces: readonly string[], sought: string): string {
  const shown = pieces.slice(0, Math.min(pieces.length - 1, 8));
  const numbers: number[] = [];
  let line = 1;
  for (const piece of shown) {
    line += piece.split('\n').length - 1;
    numbers.push(line);
    line += sought.split('\n').length - 1;
  }
  return numbers.join(', ') + (pieces.length - 1 > shown.length ? ', …' : '');
}
