import type { Requirement } from './requirement.ts';

/** Blobs, KV and the barrier before a checkpoint (§20, §21, R39–R44). */
export const blobs = [
  {
    id: 'R39-id-is-sha256',
    source: 'R39',
    covers: 'protocol',
    says: 'A blob id is the 32 raw bytes of the SHA-256 of its data.',
  },
  {
    id: 'R39-inline-tried',
    source: 'R39',
    covers: 'server',
    says: 'An entry that is not 32 bytes long, or that the client does not have, is read as the message itself.',
  },
  {
    id: 'R40-every-bytes-field-known',
    source: 'R40',
    covers: 'protocol',
    says: 'Every bytes field of the schema is in the reference table or in the list of plain data.',
  },
  {
    id: 'R41-hash-verified',
    source: 'R41',
    covers: 'server',
    says: 'A KV result is attributed by its number alone, and data that does not hash to the id is not used.',
  },
  {
    id: 'R41-empty-is-missing',
    source: 'R41',
    covers: 'server',
    says: 'An empty get_blob_result means not found, except for the hash of nothing.',
  },
  {
    id: 'R42-acks-before-checkpoint',
    source: 'R42',
    covers: 'server',
    says: 'A checkpoint is sent only after every blob it newly refers to was acknowledged.',
  },
  {
    id: 'R42-failed-set-ends-run',
    source: 'R42',
    covers: 'server',
    says: 'A set_blob_result with an error ends the run with an error and no checkpoint refers to that blob.',
  },
  {
    id: 'R42-only-new-blobs',
    source: 'R42',
    covers: 'server',
    says: 'A blob the client already has is not sent again.',
  },
  {
    id: 'R43-context-asked',
    source: 'R43',
    covers: 'server',
    says: 'A run without request context gets request_context_args before its first model call, and one with it does not.',
  },
  {
    id: 'R43-prefetched-first',
    source: 'R43',
    covers: 'server',
    says: 'A blob in pre_fetched_blobs or in the cache of the server is not asked of the client.',
  },
  {
    id: 'R44-parts-fetched',
    source: 'R44',
    covers: 'server',
    says: 'A context that comes as request_context_parts is completed from its four blobs and dynamic_context.',
  },
] as const satisfies readonly Requirement[];
