import { NotifyConversationCloneRequestSchema, NotifyConversationCloneResponseSchema } from '@tandem/protocol/agent';
import type { Unary } from '../unary.ts';
import { conversationIdOf, scopeOf } from './caller.ts';

/**
 * NotifyConversationClone: what is known of the source holds for its copy, so that calls which the copy has pending are not run
 * again (R48, F20). A source that this server never saw has nothing to copy.
 */
export const notifyConversationClone: Unary<
  typeof NotifyConversationCloneRequestSchema,
  typeof NotifyConversationCloneResponseSchema
> = {
  input: NotifyConversationCloneRequestSchema,
  output: NotifyConversationCloneResponseSchema,
  async handle({ conversationId, sourceConversationId }, caller, { store }) {
    const to = conversationIdOf('conversation_id', conversationId);
    const from = conversationIdOf('source_conversation_id', sourceConversationId);
    if (from !== to) await store.conversations.clone(scopeOf(caller), from, to);
    return {};
  },
};
