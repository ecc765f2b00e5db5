import { z } from 'zod';
import { editCard, editError, editFile } from './edit.ts';
import { withFailures } from './outcome.ts';
import type { Tool } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  path: z.string().min(1).describe('File to write, absolute or from the workspace folder. Missing folders are made.'),
  contents: z.string().describe('The whole text of the file.'),
});
type WriteArguments = z.infer<typeof schema>;

/** Writes a whole file: a hidden read, a hidden write, one edit card (R31). */
export const writeTool: Tool<WriteArguments> = {
  name: 'Write',
  aliases: ['write_file', 'WriteFile', 'create_file', 'CreateFile'],
  argumentAliases: {
    file_path: 'path',
    filePath: 'path',
    target_file: 'path',
    file: 'path',
    filename: 'path',
    content: 'contents',
    text: 'contents',
    file_text: 'contents',
  },
  card: 'editToolCall',
  description: [
    'Writes a whole file and replaces what it held. Use it for new files and for rewriting most of a file;',
    'for a change in a file that exists use StrReplace. Lines end with \\n; the line ends the file has on disk are kept.',
  ].join(' '),
  schema,
  open: ({ path = '', contents }, { facts }) => editCard(path, contents, facts),
  close: ({ path = '', contents }, message, { facts }) =>
    editCard(path, contents, facts, editError(workspacePath(path, facts), message)),
  execute(args, context) {
    const { path, contents } = args;
    return withFailures(writeTool, args, context, () =>
      editFile(context, path, contents, before => ({
        after: contents,
        summary: before === undefined ? `Made the new file ${path}` : `Wrote ${path}`,
      })),
    );
  },
};
