import { create } from '@bufbuild/protobuf';
import {
  AgentErrorSchema,
  GetBlobResultSchema,
  KvClientMessageSchema,
  SetBlobResultSchema,
} from '@tandem/protocol/agent';
import type { KvClientMessage, KvServerMessage } from '@tandem/protocol/agent';
import { blobText, hashBlob } from './blob-store.ts';
import type { BlobStore } from './blob-store.ts';
import { within } from './clock.ts';
import type { Clock } from './clock.ts';
import { reasonOf } from './failure.ts';
import { limits } from './limits.ts';

/**
 * Reads or writes one blob for the server (§20). A write is acknowledged only once the data is kept and its hash was right (R39, R41);
 * a blob that is not here is an empty result. A branch that this client does not
 * know is answered with none, which no server can take for a success. Never rejects.
 */
export async function answerKv(message: KvServerMessage, blobs: BlobStore, clock: Clock): Promise<KvClientMessage> {
  const { id } = message;
  switch (message.message.case) {
    case 'getBlobArgs': {
      const value = await getBlob(message.message.value.blobId, blobs, clock);
      return create(KvClientMessageSchema, { id, message: { case: 'getBlobResult', value } });
    }
    case 'setBlobArgs': {
      const { blobId, blobData } = message.message.value;
      const value = create(SetBlobResultSchema);
      try {
        await within(clock, limits.blobDeadline, setBlob(blobId, blobData, blobs), late);
      } catch (error) {
        value.error = create(AgentErrorSchema, { message: reasonOf(error) });
      }
      return create(KvClientMessageSchema, { id, message: { case: 'setBlobResult', value } });
    }
    default:
      return create(KvClientMessageSchema, { id });
  }
}

async function getBlob(id: Uint8Array, blobs: BlobStore, clock: Clock) {
  try {
    const blobData = await within(clock, limits.blobDeadline, blobs.get(id), late);
    return create(GetBlobResultSchema, blobData === undefined ? {} : { blobData });
  } catch (error) {
    return create(GetBlobResultSchema, { error: create(AgentErrorSchema, { message: reasonOf(error) }) });
  }
}

async function setBlob(id: Uint8Array, data: Uint8Array, blobs: BlobStore): Promise<void> {
  const hash = await hashBlob(data);
  if (blobText(hash) !== blobText(id)) {
    throw new Error(
      `blob_id is ${blobText(id) || '(empty)'}, but the SHA-256 of its ${data.length} bytes is ${blobText(hash)}`,
    );
  }
  await blobs.set(id, data);
}

const late = () => new Error(`the blob store did not answer within ${limits.blobDeadline} ms`);
