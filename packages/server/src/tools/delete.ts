import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { DeleteToolCallSchema } from '@tandem/protocol/agent';
import type { DeleteResult, DeleteResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { deniedText } from './denied.ts';
import { holdingPath } from './edit.ts';
import { failure, success, withFailures } from './outcome.ts';
import type { Card, Tool, ToolFacts } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

const schema = z.object({
  path: z.string().min(1).describe('File to delete, absolute or from the workspace folder.'),
});
type DeleteArguments = z.infer<typeof schema>;

function deleteCard(
  { path = '' }: Partial<DeleteArguments>,
  callId: string,
  facts: ToolFacts,
  result?: MessageInitShape<typeof DeleteResultSchema>,
): Card {
  return {
    case: 'deleteToolCall',
    value: create(DeleteToolCallSchema, {
      args: { path: workspacePath(path, facts), toolCallId: callId },
      ...(result ? { result } : {}),
    }),
  };
}

/** Deletes a file: `exec.delete` (§10.2). */
export const deleteTool: Tool<DeleteArguments> = {
  name: 'Delete',
  aliases: ['delete_file', 'DeleteFile', 'remove_file', 'rm'],
  argumentAliases: { file_path: 'path', filePath: 'path', target_file: 'path', file: 'path' },
  card: 'deleteToolCall',
  description: 'Deletes one file. It does not delete folders.',
  schema,
  open: (args, { callId, facts }) => deleteCard(args, callId, facts),
  close(args, message, { callId, facts }) {
    const path = workspacePath(args.path ?? '', facts);
    return deleteCard(args, callId, facts, { result: { case: 'error', value: { path, error: message } } });
  },
  execute(args, context) {
    const path = workspacePath(args.path, context.facts);
    return withFailures(deleteTool, args, context, () =>
      holdingPath(context.facts, path, async () => {
        const result = await context.exec.delete({ path, toolCallId: context.callId });
        const card = deleteCard(args, context.callId, context.facts, result);
        if (result.result.case === 'success') return success(card, `Deleted ${path}.`);
        return failure(card, deleteProblem(path, result));
      }),
    );
  },
};

function deleteProblem(path: string, { result }: DeleteResult): string {
  switch (result.case) {
    case 'fileNotFound':
      return `File not found: ${path}`;
    case 'notFile':
      return `${path} is not a file but a ${result.value.actualType || 'thing of another kind'}; it was not deleted.`;
    case 'permissionDenied':
      return deniedText(`${path} was not deleted`, {
        isReadonly: result.value.isReadonly,
        error: result.value.clientVisibleError,
      });
    case 'fileBusy':
      return `${path} is in use by another program and was not deleted.`;
    case 'rejected':
      return `The user did not allow deleting ${path}. ${result.value.reason}`.trim();
    default: {
      const reason = result.case === 'error' && result.value.error ? result.value.error : 'the client gave no reason';
      return `Deleting ${path} failed: ${reason}`;
    }
  }
}
