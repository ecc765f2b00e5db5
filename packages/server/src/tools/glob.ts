import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { GlobToolCallSchema } from '@tandem/protocol/agent';
import type { GrepSuccess, GlobToolResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { excerptOf } from './excerpt.ts';
import { CARD_GLOB_FILES, GLOB_FILES, RESULT_CHARACTERS } from './limits.ts';
import { failure, success, withFailures } from './outcome.ts';
import type { Card, Tool, ToolFacts, ToolOutcome } from './tool.ts';
import { workspacePath } from './workspace-path.ts';
import { fileName, isTruncated, workspaceResults } from './workspace-results.ts';

const schema = z.object({
  glob_pattern: z
    .string()
    .min(1)
    .describe('Pattern of file names, e.g. "*.ts" or "src/**/*.test.ts". "**/" is put in front when it is not there.'),
  target_directory: z.string().optional().describe('Folder to search in. Default: the whole workspace.'),
});
type GlobArguments = z.infer<typeof schema>;

function globCard(
  { glob_pattern = '', target_directory }: Partial<GlobArguments>,
  facts: ToolFacts,
  result?: MessageInitShape<typeof GlobToolResultSchema>['result'],
): Card {
  const targetDirectory = target_directory ? workspacePath(target_directory, facts) : undefined;
  return {
    case: 'globToolCall',
    value: create(GlobToolCallSchema, {
      args: { globPattern: glob_pattern, targetDirectory },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

const errorOf = (error: string) => ({ case: 'error' as const, value: { error } });

/** Finds files by name: a grep exec with an empty pattern and `files_with_matches` (R32). */
export const globTool: Tool<GlobArguments> = {
  name: 'Glob',
  aliases: ['glob_file_search', 'find_files', 'file_search', 'FindFiles'],
  argumentAliases: {
    pattern: 'glob_pattern',
    glob: 'glob_pattern',
    path: 'target_directory',
    directory: 'target_directory',
    target_dir: 'target_directory',
  },
  card: 'globToolCall',
  description:
    'Finds files by a pattern of their names. Files that git ignores are left out. To search in what files hold, use Grep.',
  schema,
  open: (args, { facts }) => globCard(args, facts),
  close: (args, message, { facts }) => globCard(args, facts, errorOf(message)),
  execute(args, context) {
    const { glob, directory } = splitPattern(args);
    return withFailures(globTool, args, context, async () => {
      const { result } = await context.exec.grep({
        pattern: '',
        glob,
        outputMode: 'files_with_matches',
        toolCallId: context.callId,
        ...(directory ? { path: workspacePath(directory, context.facts) } : {}),
      });
      if (result.case === 'success') return foundFiles(args, result.value, context.facts);
      const reason = (result.case === 'error' && result.value.error) || 'the client gave no reason';
      const message = `The search for ${args.glob_pattern} failed: ${reason}`;
      return failure(globCard(args, context.facts, errorOf(message)), message);
    });
  },
};

/** The glob for the wire, and the folder: an absolute pattern brings its own, up to its first wildcard. */
function splitPattern({ glob_pattern, target_directory }: GlobArguments): {
  glob: string;
  directory: string | undefined;
} {
  let glob = glob_pattern.replace(/^(\.\/)+/, '');
  let directory = target_directory;
  if (glob.startsWith('/')) {
    const parts = glob.split('/');
    const wild = parts.findIndex(part => /[*?[{]/.test(part));
    const at = wild < 0 ? parts.length - 1 : wild;
    directory = parts.slice(0, at).join('/') || '/';
    glob = parts.slice(at).join('/') || '*';
  }
  return { glob: glob.startsWith('**/') ? glob : `**/${glob}`, directory };
}

function foundFiles(args: GlobArguments, found: GrepSuccess, facts: ToolFacts): ToolOutcome {
  const results = workspaceResults(found);
  const several = results.length > 1;
  const files: string[] = [];
  let total = 0;
  for (const { root, result } of results) {
    if (result.case !== 'files') continue;
    total += Math.max(result.value.totalFiles, result.value.files.length);
    files.push(...result.value.files.map(file => fileName(file, root, several)));
  }
  const kept = files.slice(0, CARD_GLOB_FILES);
  const card = globCard(args, facts, {
    case: 'success',
    value: {
      pattern: args.glob_pattern,
      path: found.path,
      files: kept,
      totalFiles: total,
      clientTruncated: kept.length < files.length || results.some(({ result }) => result.value.clientTruncated),
      ripgrepTruncated: results.some(({ result }) => result.value.ripgrepTruncated),
    },
  });
  if (files.length === 0) return success(card, `No files match ${args.glob_pattern}.`);
  const shown = files.slice(0, GLOB_FILES);
  const count = `${isTruncated(results) ? 'At least ' : ''}${total} file${total === 1 ? '' : 's'}`;
  const head = shown.length < total ? `${count}, the first ${shown.length} of them:` : `${count}:`;
  return success(card, excerptOf(`${head}\n${shown.join('\n')}`, RESULT_CHARACTERS));
}
