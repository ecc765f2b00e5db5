import type { Store, StoredConversation } from '@tandem/client/node';

/** The conversation of this id, or of as much of its beginning as no other one shares; else why there is none. */
export async function findConversation(store: Store, id: string): Promise<StoredConversation | { problem: string }> {
  const named = await store.get(id);
  if (named) return named;
  const found = id === '' ? [] : (await store.list()).filter(one => one.id.startsWith(id));
  const [only] = found;
  if (only && found.length === 1) return only;
  return {
    problem:
      found.length === 0
        ? `There is no conversation ${JSON.stringify(id)} on this machine; tandem history --all lists them.`
        : `${found.length} conversations begin with ${JSON.stringify(id)}; give more of the id.`,
  };
}
