import { fromBinary } from '@bufbuild/protobuf';
import { blobKey, collectBlobLinks, isBlobId } from '@tandem/protocol';
import { messageSchemas } from '@tandem/protocol/schema';
import type { BlobLink } from '@tandem/protocol';
import { ConversationStateStructureSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure } from '@tandem/protocol/agent';
import { Memo } from './memo.ts';

/** What a blob refers to; its id names its content, so this is found once for all plays. */
const links = new Memo<readonly { key: string; holds: string }[]>(20_000);

/**
 * What is wrong with the blobs that a checkpoint refers to, directly or through others: not there, or there and not yet
 * acknowledged when the checkpoint came (R42).
 */
export function checkBlobs(
  state: ConversationStateStructure,
  held: ReadonlyMap<string, Uint8Array>,
  acknowledged: ReadonlySet<string>,
): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const visit = ({ key, holds }: { key: string; holds: string }): void => {
    if (seen.has(key)) return;
    seen.add(key);
    const data = held.get(key);
    if (!data) {
      problems.push(`a checkpoint refers to blob ${key.slice(0, 12)} (${holds}), which the client was never given`);
      return;
    }
    if (!acknowledged.has(key))
      problems.push(`a checkpoint came before blob ${key.slice(0, 12)} (${holds}) was acknowledged`);
    for (const next of linksOf(key, holds, data)) visit(next);
  };
  for (const link of named(collectBlobLinks(ConversationStateStructureSchema, state))) visit(link);
  return problems;
}

function linksOf(key: string, holds: string, data: Uint8Array): readonly { key: string; holds: string }[] {
  return links.get(`${holds} ${key}`, () => {
    const schema = messageSchemas.get(holds);
    return schema ? named(collectBlobLinks(schema, fromBinary(schema, data))) : [];
  });
}

function named(found: Iterable<BlobLink>): { key: string; holds: string }[] {
  return [...found]
    .filter(({ value }) => isBlobId(value))
    .map(({ value, reference }) => ({ key: blobKey(value), holds: reference.holds }));
}
