import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import type { AgentServerMessage, InteractionUpdate } from '@tandem/protocol/agent';

/**
 * Where a run speaks to its client. The stream below implements it; the run never knows which transport reads.
 * Everything the client sees is one ordered append to it.
 */
export interface Outbox {
  append(message: AgentServerMessage): void;
  /** Most of what is said: the same as `append` of {@link textMessage}, without an object for every word. */
  appendText(branch: TextBranch, text: string): void;
  /** Undefined while the reader keeps up; else resolves when it caught up. Model output waits for it. */
  ready(): Promise<void> | undefined;
  /** Undefined while somebody reads; else resolves when a reader comes (R19). New model calls and execs wait for it. */
  reader(): Promise<void> | undefined;
}

/** The updates that carry what a model says or thinks. */
export type TextBranch = 'textDelta' | 'thinkingDelta';

/** A piece of what a model says or thinks (§16). */
export function textMessage(branch: TextBranch, text: string): AgentServerMessage {
  return updateMessage(
    branch === 'textDelta'
      ? { case: branch, value: { $typeName: 'agent.v1.TextDeltaUpdate', text, isServerNotice: false } }
      : { case: branch, value: { $typeName: 'agent.v1.ThinkingDeltaUpdate', text } },
  );
}

/** Wraps an update in its root message (§16). */
export function updateMessage(message: InteractionUpdate['message']): AgentServerMessage {
  // written out: `create` goes through reflection, which is felt in every delta
  return {
    $typeName: 'agent.v1.AgentServerMessage',
    message: { case: 'interactionUpdate', value: { $typeName: 'agent.v1.InteractionUpdate', message } },
  };
}

/** Wraps any other branch of the root message (§15.2). */
export function serverMessage(
  message: MessageInitShape<typeof AgentServerMessageSchema>['message'],
): AgentServerMessage {
  return create(AgentServerMessageSchema, { message });
}
