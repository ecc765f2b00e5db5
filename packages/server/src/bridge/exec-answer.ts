import { fitsExec } from '@tandem/protocol';
import type { ExecQuestion } from '@tandem/protocol';
import type { ExecClientMessage, ShellStream } from '@tandem/protocol/agent';
import { ExecFailure } from './exec-failure.ts';

/** Events that end a shell stream (§10.2, R30). */
const ENDING = new Set<ShellStream['event']['case']>([
  'exit',
  'rejected',
  'permissionDenied',
  'backgrounded',
  'sandboxUnsupported',
]);

export function endsShellStream(event: ShellStream['event']): boolean {
  return ENDING.has(event.case);
}

/** Whether this message, taken alone, settles its exec: anything but an event in the middle of a stream. */
export function settlesExec(message: ExecClientMessage['message']): boolean {
  return message.case !== 'shellStream' || endsShellStream(message.value.event);
}

/** Branches whose message has no oneof `result`: they are answers as they stand. */
const WITHOUT_RESULT: ReadonlySet<ExecQuestion> = new Set(['shellStreamArgs', 'gitDiffRequest']);

/**
 * The value of an answer that fits its question (R28).
 * @throws ExecFailure `mismatch` when it is of another kind, `unset` when it chose no result.
 */
export function readExecAnswer(question: ExecQuestion, message: ExecClientMessage['message']): unknown {
  if (message.case === undefined) {
    throw new ExecFailure('unset', `Error: the client sent a malformed result for ${question}: it has no content.`);
  }
  if (!fitsExec(question, message.case)) {
    throw new ExecFailure('mismatch', `Error: unexpected result: the client answered ${message.case} to ${question}.`);
  }
  const value = message.value as unknown as { result?: { case?: string } };
  if (!WITHOUT_RESULT.has(question) && 'result' in value && value.result?.case === undefined) {
    throw new ExecFailure(
      'unset',
      `Error: the client sent a malformed result for ${question}: no branch of it is set.`,
    );
  }
  return message.value;
}
