import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EditToolCallSchema } from '@tandem/protocol/agent';
import type { ReadResult, WriteResult, EditResultSchema } from '@tandem/protocol/agent';
import { posix } from 'node:path';
import { deniedText } from './denied.ts';
import { diffTexts } from './edit-diff.ts';
import { failure, success } from './outcome.ts';
import { readProblem } from './read.ts';
import type { Card, ToolContext, ToolFacts, ToolOutcome } from './tool.ts';
import { workspacePath } from './workspace-path.ts';

export type EditResultInit = NonNullable<MessageInitShape<typeof EditResultSchema>['result']>;

/** What an edit makes of a file: its new text, or why it makes none. `before` is undefined when there is no file. */
export type EditChange = (before: string | undefined) => { after: string; summary: string } | { refusal: string };

/** The card of an edit; `streamContent` is the text the model writes. */
export function editCard(
  path: string,
  streamContent: string | undefined,
  facts: ToolFacts,
  result?: EditResultInit,
): Card {
  return {
    case: 'editToolCall',
    value: create(EditToolCallSchema, {
      args: { path: workspacePath(path, facts), streamContent },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

/** The error result of an edit card; the same text is for the user and for the model. */
export function editError(path: string, error: string): EditResultInit {
  return { case: 'error', value: { path, error, modelVisibleError: error } };
}

/** Text as it crosses the wire: LF, no byte order mark (R31). The client restores what the file on disk has. */
export function wireText(text: string): string {
  return text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
}

const queues = new WeakMap<ToolFacts, Map<string, Promise<unknown>>>();

/**
 * Does the work on one file when all earlier work on it in this run is done: two edits of one parallel round would else read
 * the same text and the second would undo the first.
 */
export async function holdingPath<Result>(
  facts: ToolFacts,
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const held = queues.get(facts) ?? new Map<string, Promise<unknown>>();
  queues.set(facts, held);
  const key = posix.normalize(path.replaceAll('\\', '/'));
  const before = held.get(key);
  const mine = (before ?? Promise.resolve()).then(work);
  const settled = mine.then(
    () => undefined,
    () => undefined, // its own caller hears of the failure; the next in line goes on
  );
  held.set(key, settled);
  try {
    return await mine;
  } finally {
    if (held.get(key) === settled) held.delete(key);
  }
}

/**
 * One edit (R31): a hidden read, the change made here, a hidden write of the whole new text, both under the one tool call. A
 * file that is not found is new; one that comes cut or as bytes is not touched.
 */
export async function editFile(
  context: ToolContext,
  asked: string,
  streamContent: string | undefined,
  change: EditChange,
): Promise<ToolOutcome> {
  const path = workspacePath(asked, context.facts);
  const refuse = (result: EditResultInit, message: string) =>
    failure(editCard(asked, streamContent, context.facts, result), message);
  return holdingPath(context.facts, path, async () => {
    const read = await context.exec.read({ path, toolCallId: context.callId });
    const before = textBefore(path, read);
    if (typeof before === 'object') return refuse(before.result, before.message);

    const made = change(before);
    if ('refusal' in made) {
      const gone = before === undefined;
      return refuse(gone ? { case: 'fileNotFound', value: { path } } : editError(path, made.refusal), made.refusal);
    }
    const after = wireText(made.after);
    if (after !== before) {
      const written = await context.exec.write({ path, fileText: after, toolCallId: context.callId });
      if (written.result.case !== 'success') {
        const problem = writeProblem(path, written);
        return refuse(problem.result, problem.message);
      }
    }
    const diff = diffTexts(path, before, after);
    const counts = `+${diff.linesAdded} −${diff.linesRemoved} lines`;
    const message =
      after === before ? `${path} already had this text; nothing changed.` : `${made.summary} (${counts})`;
    const result: EditResultInit = {
      case: 'success',
      value: { path, ...diff, beforeFullFileContent: before, afterFullFileContent: after, message },
    };
    return success(editCard(asked, streamContent, context.facts, result), message);
  });
}

interface Problem {
  result: EditResultInit;
  message: string;
}

/** How clients that know no `file_not_found` say it (R31); what cannot be written for another reason fails at the write. */
const NO_SUCH_FILE = /\bENOENT\b|no such file|file (was )?not found|does not exist/i;

/** The text the file has now; undefined when there is no file; a problem when it cannot be edited. */
function textBefore(path: string, read: ReadResult): string | undefined | Problem {
  const { result } = read;
  switch (result.case) {
    case 'fileNotFound':
      return undefined;
    case 'success': {
      const { output, truncated } = result.value;
      if (output.case === 'data') {
        const message = `${path} is a binary file and cannot be edited as text.`;
        return { result: editError(path, message), message };
      }
      if (truncated) {
        const message = `${path} is too large to be edited: the client sent only a part of it. Change it with a shell command.`;
        return { result: editError(path, message), message };
      }
      return wireText(output.value ?? '');
    }
    case 'permissionDenied':
      return { result: { case: 'readPermissionDenied', value: { path } }, message: readProblem(path, read) };
    case 'rejected':
      return {
        result: { case: 'rejected', value: { path, reason: result.value.reason } },
        message: readProblem(path, read),
      };
    default: {
      if (result.case === 'error' && NO_SUCH_FILE.test(result.value.error)) return undefined;
      const message = readProblem(path, read);
      return { result: editError(path, message), message };
    }
  }
}

function writeProblem(path: string, { result }: WriteResult): Problem {
  switch (result.case) {
    case 'permissionDenied': {
      const { error, isReadonly } = result.value;
      const message = deniedText(`${path} cannot be written`, result.value);
      return {
        result: { case: 'writePermissionDenied', value: { path, error: error || message, isReadonly } },
        message,
      };
    }
    case 'rejected': {
      const { reason } = result.value;
      const message = `The user did not allow writing ${path}.${reason ? ` ${reason}` : ''}`;
      return { result: { case: 'rejected', value: { path, reason } }, message };
    }
    case 'noSpace': {
      const message = `No space left on the disk to write ${path}.`;
      return { result: editError(path, message), message };
    }
    default: {
      const reason = result.case === 'error' && result.value.error ? result.value.error : 'the client gave no reason';
      const message = `Writing ${path} failed: ${reason}`;
      return { result: editError(path, message), message };
    }
  }
}
