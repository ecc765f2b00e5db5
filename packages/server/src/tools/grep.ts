import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { GrepToolCallSchema } from '@tandem/protocol/agent';
import type { GrepArgsSchema, GrepResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { grepText } from './grep-text.ts';
import { GREP_HEAD_LIMIT } from './limits.ts';
import { failure, success, withFailures } from './outcome.ts';
import type { Card, Tool, ToolFacts } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  pattern: z.string().min(1).describe('Regular expression, as ripgrep reads it.'),
  path: z.string().optional().describe('File or folder to search in. Default: the whole workspace.'),
  glob: z.string().optional().describe('Only files whose name fits, e.g. "*.ts".'),
  type: z.string().optional().describe('Only files of a kind that ripgrep knows, e.g. "py", "ts", "rust".'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe('Matching lines, names of the files that have one, or matches per file. Default: content.'),
  '-A': z.int32().min(0).optional().describe('Lines to show after each match.'),
  '-B': z.int32().min(0).optional().describe('Lines to show before each match.'),
  '-C': z.int32().min(0).optional().describe('Lines to show before and after each match.'),
  '-i': z.boolean().optional().describe('Ignore case.'),
  multiline: z.boolean().optional().describe('A match may span lines, and "." matches a line end.'),
  head_limit: z
    .int32()
    .min(1)
    .optional()
    .describe(`Show the first so many lines or files. Default: ${GREP_HEAD_LIMIT}.`),
  offset: z
    .int32()
    .min(0)
    .optional()
    .describe('Leave out the first so many lines or files, to read on where an earlier result ended.'),
});
type GrepArguments = z.infer<typeof schema>;

/** The search as the client runs it. head_limit and offset stay here: clients do not apply them (R30). */
function searchOf(
  args: Partial<GrepArguments>,
  callId: string,
  facts: ToolFacts,
): MessageInitShape<typeof GrepArgsSchema> {
  return {
    pattern: args.pattern ?? '',
    path: args.path ? workspacePath(args.path, facts) : undefined,
    glob: args.glob,
    type: args.type,
    outputMode: args.output_mode ?? 'content',
    contextAfter: args['-A'],
    contextBefore: args['-B'],
    context: args['-C'],
    caseInsensitive: args['-i'],
    multiline: args.multiline,
    toolCallId: callId,
  };
}

function grepCard(
  args: Partial<GrepArguments>,
  callId: string,
  facts: ToolFacts,
  result?: MessageInitShape<typeof GrepResultSchema>,
): Card {
  return {
    case: 'grepToolCall',
    value: create(GrepToolCallSchema, {
      args: { ...searchOf(args, callId, facts), headLimit: args.head_limit, offset: args.offset },
      ...(result ? { result } : {}),
    }),
  };
}

/** Searches in files: `exec.grep`, the limits applied here (§10.2, R30). */
export const grepTool: Tool<GrepArguments> = {
  name: 'Grep',
  aliases: ['grep_search', 'rg', 'ripgrep', 'search_files', 'SearchText', 'search_file_content'],
  argumentAliases: {
    query: 'pattern',
    regex: 'pattern',
    directory: 'path',
    include: 'glob',
    include_pattern: 'glob',
    context: '-C',
    context_before: '-B',
    context_after: '-A',
    case_insensitive: '-i',
    ignore_case: '-i',
    limit: 'head_limit',
    max_results: 'head_limit',
  },
  card: 'grepToolCall',
  description: [
    'Searches in files with a regular expression. Matching lines come as LINE:text under their file, lines of context as LINE-text.',
    'Files that git ignores are left out unless a glob names them. "At least" in front of a count means that the client stopped counting.',
  ].join(' '),
  schema,
  open: (args, { callId, facts }) => grepCard(args, callId, facts),
  close: (args, message, { callId, facts }) =>
    grepCard(args, callId, facts, { result: { case: 'error', value: { error: message } } }),
  execute(args, context) {
    return withFailures(grepTool, args, context, async () => {
      const result = await context.exec.grep(searchOf(args, context.callId, context.facts));
      const card = grepCard(args, context.callId, context.facts, result);
      if (result.result.case === 'success') {
        return success(card, grepText(result.result.value, args.head_limit ?? GREP_HEAD_LIMIT, args.offset ?? 0));
      }
      const reason = (result.result.case === 'error' && result.result.value.error) || 'the client gave no reason';
      return failure(card, `The search for ${args.pattern} failed: ${reason}`);
    });
  },
};
