import { randomBytes, randomUUID } from 'node:crypto';

/** Identities and randomness as an argument, so tests can predict them. */
export interface Identity {
  /** A new UUID: model calls, runs and conversations that the client left unnamed. */
  uuid(): string;
  /** A new tool call id, unique for good: letters and digits only, at most 64 characters (R24). */
  callId(): string;
  /** A number in [0, 1), for jitter. */
  random(): number;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export const systemIdentity: Identity = {
  uuid: () => randomUUID(),
  callId: () => 'call_' + Array.from(randomBytes(22), byte => ALPHABET[byte % ALPHABET.length]).join(''),
  random: () => Math.random(),
};
