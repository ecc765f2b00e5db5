import { fault } from '@tandem/protocol';
import {
  UpdateConversationMetadataRequestSchema,
  UpdateConversationMetadataResponseSchema,
} from '@tandem/protocol/agent';
import type { Unary } from '../unary.ts';
import { conversationIdOf, scopeOf } from './caller.ts';

/** A name stands on one line of a list. */
const NAME_CHARACTERS = 1_000;
/** Folders of one workspace, and the longest path of common systems. */
const WORKSPACE_PATHS = 100;
const PATH_CHARACTERS = 4_096;

/** UpdateConversationMetadata: keeps the name and the folders of a conversation; what a request leaves out stays as it was. */
export const updateConversationMetadata: Unary<
  typeof UpdateConversationMetadataRequestSchema,
  typeof UpdateConversationMetadataResponseSchema
> = {
  input: UpdateConversationMetadataRequestSchema,
  output: UpdateConversationMetadataResponseSchema,
  async handle({ conversationId, name, onlySetNameIfEmpty = false, workspacePaths }, caller, { store }) {
    const id = conversationIdOf('conversation_id', conversationId);
    if (name !== undefined && name.length > NAME_CHARACTERS) {
      throw fault('bad_request', `name has ${name.length} characters; the limit is ${NAME_CHARACTERS}.`);
    }
    if (workspacePaths.length > WORKSPACE_PATHS) {
      throw fault(
        'bad_request',
        `workspace_paths has ${workspacePaths.length} entries; the limit is ${WORKSPACE_PATHS}.`,
      );
    }
    workspacePaths.forEach(({ length }, index) => {
      if (length > PATH_CHARACTERS)
        throw fault(
          'bad_request',
          `workspace_paths[${index}] has ${length} characters; the limit is ${PATH_CHARACTERS}.`,
        );
    });
    await store.conversations.updateMetadata(scopeOf(caller), id, {
      name,
      onlySetNameIfEmpty,
      workspacePaths: workspacePaths.length > 0 ? workspacePaths : undefined,
    });
    return {};
  },
};
