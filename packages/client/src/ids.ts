/** Where new identities and jitter come from; tests put their own in place. */
export interface Ids {
  /** A new UUID, lower case with dashes. */
  uuid(): string;
  /** A number from 0 up to, but without, 1. */
  random(): number;
}

/** UUIDs of the platform's generator. */
export const randomIds: Ids = {
  uuid: () => globalThis.crypto.randomUUID(),
  random: () => Math.random(),
};
