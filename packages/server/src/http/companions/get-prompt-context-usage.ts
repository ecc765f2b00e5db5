import { fromBinary } from '@bufbuild/protobuf';
import { blobKey, fault, isBlobId } from '@tandem/protocol';
import {
  GetPromptContextUsageRequestSchema,
  GetPromptContextUsageResponseSchema,
  PromptContextUsageSnapshotSchema,
} from '@tandem/protocol/agent';
import type { PromptContextUsageSnapshot } from '@tandem/protocol/agent';
import type { Unary } from '../unary.ts';
import { scopeOf } from './caller.ts';

/** GetPromptContextUsage: the snapshot that a checkpoint named, as the cache of its owner has it (R40, R51). */
export const getPromptContextUsage: Unary<
  typeof GetPromptContextUsageRequestSchema,
  typeof GetPromptContextUsageResponseSchema
> = {
  input: GetPromptContextUsageRequestSchema,
  output: GetPromptContextUsageResponseSchema,
  async handle({ snapshotBlobId }, caller, { store }) {
    if (!isBlobId(snapshotBlobId)) {
      throw fault(
        'bad_request',
        `snapshot_blob_id has ${snapshotBlobId.length} bytes; the id of a blob has 32. Take it from token_details of a checkpoint.`,
      );
    }
    const data = await store.blobs.get(scopeOf(caller), snapshotBlobId);
    if (!data) {
      throw fault(
        'blob_missing',
        `This server does not have the snapshot ${blobKey(snapshotBlobId)}. The next checkpoint of the conversation names a new one.`,
      );
    }
    return { snapshot: readSnapshot(snapshotBlobId, data) };
  },
};

function readSnapshot(id: Uint8Array, data: Uint8Array): PromptContextUsageSnapshot {
  try {
    return fromBinary(PromptContextUsageSnapshotSchema, data);
  } catch (cause) {
    throw fault(
      'bad_request',
      `Blob ${blobKey(id)} is no PromptContextUsageSnapshot. Take the id from token_details of a checkpoint.`,
      { cause },
    );
  }
}
