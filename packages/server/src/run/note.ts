import type { ModelMessage } from '@tandem/protocol/message';

/**
 * A message that the server adds to the history as user role: context, reminders (R47). Marked, so that a later turn
 * knows what the history already says and people's words are told from ours.
 */
export type NoteKind = 'workspace' | 'continue' | 'interrupted';

export function noteMessage(kind: NoteKind, text: string): ModelMessage {
  return { role: 'user', content: text, providerOptions: { tandem: { note: kind } } };
}

export function noteKindOf(message: ModelMessage): NoteKind | undefined {
  const note = message.providerOptions?.['tandem']?.['note'];
  return typeof note === 'string' ? (note as NoteKind) : undefined;
}

/** The newest note of a kind, or undefined. */
export function lastNote(messages: readonly ModelMessage[], kind: NoteKind): ModelMessage | undefined {
  return messages.findLast(message => noteKindOf(message) === kind);
}

/** For entries of `pending_tool_calls` that nobody can read: they still happened (R48). */
export function interruptedNote(): ModelMessage {
  return noteMessage(
    'interrupted',
    'Tool calls of the last step were interrupted, and their results are lost. Check what they changed before you repeat them.',
  );
}
