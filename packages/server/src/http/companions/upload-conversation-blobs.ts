import { blobKey, fault, isBlobId } from '@tandem/protocol';
import { UploadConversationBlobsRequestSchema, UploadConversationBlobsResponseSchema } from '@tandem/protocol/agent';
import type { BlobEntry } from '@tandem/protocol/agent';
import { blobIdOf } from '../../bridge/kv.ts';
import type { Unary } from '../unary.ts';
import { conversationIdOf, scopeOf } from './caller.ts';

/** Bytes that are hashed or stored before other streams get their turn: some milliseconds of work. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * UploadConversationBlobs: keeps blobs for the runs of their owner, which then do not ask the client for them (R43, F20). All or
 * none is kept. Each request is complete in itself, so which chunk of how many it is changes nothing.
 */
export const uploadConversationBlobs: Unary<
  typeof UploadConversationBlobsRequestSchema,
  typeof UploadConversationBlobsResponseSchema
> = {
  input: UploadConversationBlobsRequestSchema,
  output: UploadConversationBlobsResponseSchema,
  async handle({ conversationId, blobs }, caller, { store }) {
    conversationIdOf('conversation_id', conversationId);
    const batches = batchesOf(blobs);
    let index = 0;
    for (const batch of batches) {
      for (const blob of batch) verify(blob, index++);
      await nextTurn();
    }
    const scope = scopeOf(caller);
    for (const batch of batches) {
      await store.blobs.put(
        scope,
        batch.map(({ id, value }) => ({ id, data: value })),
      );
      await nextTurn();
    }
    return {};
  },
};

/** @throws Fault `bad_request`, naming the blob, when its id is not the hash of its data (R39, R41). */
function verify({ id, value }: BlobEntry, index: number): void {
  if (!isBlobId(id))
    throw fault(
      'bad_request',
      `blobs[${index}].id has ${id.length} bytes; the id of a blob is the SHA-256 of its data, 32 bytes.`,
    );
  if (Buffer.compare(blobIdOf(value), id) !== 0) {
    throw fault(
      'bad_request',
      `blobs[${index}] is not what its id says: ${blobKey(id)} is not the SHA-256 of its ${value.length} bytes. No blob of this request was kept.`,
    );
  }
}

function batchesOf(blobs: readonly BlobEntry[]): BlobEntry[][] {
  const batches: BlobEntry[][] = [];
  let room = 0;
  for (const blob of blobs) {
    if (room <= 0) {
      batches.push([]);
      room = BATCH_BYTES;
    }
    batches.at(-1)!.push(blob);
    room -= blob.value.length + blob.id.length;
  }
  return batches;
}

const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve));
