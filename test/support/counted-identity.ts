import type { ServerParts } from '@tandem/server';

/** Identities that count, so that two servers that do the same say the same. */
export function countedIdentity(): NonNullable<ServerParts['identity']> {
  let uuids = 0;
  let calls = 0;
  return {
    uuid: () => `00000000-0000-4000-8000-${String(++uuids).padStart(12, '0')}`,
    callId: () => `call_${++calls}`,
    random: () => 0.5,
  };
}
