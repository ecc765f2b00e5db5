import { fromBinary } from '@bufbuild/protobuf';
import { blobKey, collectBlobLinks, isBlobId } from '@tandem/protocol';
import { messageSchemas } from '@tandem/protocol/schema';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { BlobLink } from '@tandem/protocol';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import type { ModelMessage } from '@tandem/protocol/message';

/** Hex ids of every blob that a state refers to, directly or through other blobs, and those that are missing. */
export function reachableBlobs(
  state: ConversationStateStructure,
  blobs: ReadonlyMap<string, Uint8Array>,
): { ids: Set<string>; missing: string[] } {
  const ids = new Set<string>();
  const missing: string[] = [];
  const visit = (links: Iterable<BlobLink>) => {
    for (const { value, reference } of links) {
      if (!isBlobId(value)) continue;
      const key = blobKey(value);
      if (ids.has(key)) continue;
      ids.add(key);
      const data = blobs.get(key);
      if (!data) {
        missing.push(`${key} (${reference.holds})`);
        continue;
      }
      const schema = messageSchemas.get(reference.holds);
      if (schema) visit(collectBlobLinks(schema, fromBinary(schema, data)));
    }
  };
  visit(collectBlobLinks(ConversationStateStructureSchema, state));
  return { ids, missing };
}

/** The JSON messages of a state's roots. */
export function rootMessages(
  state: ConversationStateStructure,
  blobs: ReadonlyMap<string, Uint8Array>,
): ModelMessage[] {
  return state.rootPromptMessagesJson.map(id => {
    const data = isBlobId(id) ? blobs.get(blobKey(id)) : id;
    if (!data) throw new Error(`root ${blobKey(id)} is missing`);
    return JSON.parse(Buffer.from(data).toString('utf8')) as ModelMessage;
  });
}
