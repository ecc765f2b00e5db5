import { limits } from '@tandem/protocol';

/** A bound that a person may set: what it is by default, and between which values it works at all. */
export interface LimitRange {
  readonly by: number;
  readonly least: number;
  readonly most: number;
}

/** The keys of `limits` in the config, each with the reason of its default. Sizes are bytes, times are seconds. */
export const LIMITS = {
  /** One message of a client after decoding (R8). More than half a GiB does not fit a string any more as hex. */
  messageBytes: { by: limits.messageBytes, least: 64 * 1024, most: 256 * 1024 * 1024 },
  /** How long a run without a reader is kept (R19): clients reconnect within seconds. */
  readerGraceSeconds: { by: limits.readerGraceMs / 1000, least: 0, most: 3_600 },
  /** How long a stream waits for its other half (R12): the upload of a large prompt takes a while. */
  placeholderSeconds: { by: limits.placeholderMs / 1000, least: 1, most: 600 },
  /**
   * Silence of a provider before the first word of its answer. Models on one's own machine read a long prompt for minutes, and
   * others think for minutes, before they say a word; a person who is tired of waiting cancels.
   */
  providerFirstTokenSeconds: { by: 300, least: 1, most: 3_600 },
  /** Silence of a provider inside an answer. Whatever it sends ends the silence, comments too. */
  providerIdleSeconds: { by: 120, least: 1, most: 3_600 },
  /** Tries of one model call in all (R56): four ride out a restart or a short overload, in about ten seconds. */
  providerAttempts: { by: 4, least: 1, most: 10 },
} as const satisfies Record<string, LimitRange>;

/** The bounds as the server uses them, all present. */
export type Limits = { readonly [name in keyof typeof LIMITS]: number };

/** What holds when the config says nothing. */
export const DEFAULT_LIMITS: Limits = Object.fromEntries(
  Object.entries(LIMITS).map(([name, range]) => [name, range.by]),
) as Limits;
