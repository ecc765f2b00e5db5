import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { LsToolCallSchema } from '@tandem/protocol/agent';
import type { LsDirectoryTreeNode, LsResult, LsResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { directoryText } from './directory-text.ts';
import { failure, success, withFailures } from './outcome.ts';
import type { Card, Tool, ToolFacts } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  path: z
    .string()
    .min(1)
    .describe('Folder to list, absolute or from the workspace folder; "." is the workspace folder.'),
  ignore: z.array(z.string()).optional().describe('Patterns of names to leave out, e.g. ["node_modules", "*.log"].'),
});
type LsArguments = z.infer<typeof schema>;

function lsCard(
  { path = '', ignore = [] }: Partial<LsArguments>,
  callId: string,
  facts: ToolFacts,
  result?: MessageInitShape<typeof LsResultSchema>,
): Card {
  return {
    case: 'lsToolCall',
    value: create(LsToolCallSchema, {
      args: { path: workspacePath(path, facts), ignore, toolCallId: callId },
      ...(result ? { result } : {}),
    }),
  };
}

/** Lists a folder as a tree: `exec.ls` (§10.2). */
export const lsTool: Tool<LsArguments> = {
  name: 'Ls',
  aliases: ['list_dir', 'list_directory', 'ListDir', 'LS', 'list_files', 'ReadFolder'],
  argumentAliases: {
    directory: 'path',
    dir: 'path',
    target_directory: 'path',
    relative_workspace_path: 'path',
    ignore_globs: 'ignore',
  },
  card: 'lsToolCall',
  description: 'Lists a folder as a tree. Names that end with / are folders. Files that git ignores are left out.',
  schema,
  open: (args, { callId, facts }) => lsCard(args, callId, facts),
  close(args, message, { callId, facts }) {
    const path = workspacePath(args.path ?? '', facts);
    return lsCard(args, callId, facts, { result: { case: 'error', value: { path, error: message } } });
  },
  execute(args, context) {
    return withFailures(lsTool, args, context, async () => {
      const path = workspacePath(args.path, context.facts);
      const result = await context.exec.ls({ path, ignore: args.ignore ?? [], toolCallId: context.callId });
      const card = lsCard(args, context.callId, context.facts, result);
      const tree = treeOf(result);
      if (!tree) return failure(card, lsProblem(path, result));
      const text = directoryText(tree);
      const cut =
        result.result.case === 'timeout' ? '\n(The listing took too long; this is what was found in time.)' : '';
      return success(card, text + cut);
    });
  },
};

/** A listing that ran out of time holds what was found. */
function treeOf({ result }: LsResult): LsDirectoryTreeNode | undefined {
  return result.case === 'success' || result.case === 'timeout' ? result.value.directoryTreeRoot : undefined;
}

function lsProblem(path: string, { result }: LsResult): string {
  switch (result.case) {
    case 'rejected':
      return `The user did not allow listing ${path}. ${result.value.reason}`.trim();
    case 'timeout':
      return `Listing ${path} took too long.`;
    case 'error':
      return `Listing ${path} failed: ${result.value.error || 'the client gave no reason'}`;
    default:
      return `Listing ${path} failed: the client sent a malformed result.`;
  }
}
