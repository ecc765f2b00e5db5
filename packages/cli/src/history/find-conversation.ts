import type { ListedConversation, Store, StoredConversation } from '@tandem/client/node';

/** Whether anything of a conversation was kept: a run that ended before its first checkpoint left nothing to show. */
export function isKept(conversation: ListedConversation): boolean {
  return conversation.turns !== undefined;
}

/** The conversation of this id, or of as much of its beginning as no other one shares; else why there is none. */
export async function findConversation(store: Store, id: string): Promise<StoredConversation | { problem: string }> {
  const named = await store.get(id);
  if (named) return named;
  const found = id === '' ? [] : (await store.list()).filter(one => one.id.startsWith(id));
  const only = found.length === 1 ? await store.get(found[0]!.id) : undefined;
  if (only) return only;
  return {
    problem:
      found.length === 0
        ? `There is no conversation ${JSON.stringify(id)} on this machine; tandem history --all lists them.`
        : `${found.length} conversations begin with ${JSON.stringify(id)}; give more of the id.`,
  };
}
