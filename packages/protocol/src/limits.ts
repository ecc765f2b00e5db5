const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;

/** Every bound that both sides share, with its reason. Times are milliseconds, sizes are bytes. */
export const limits = {
  /** One decoded message, by default (R8). Stock clients send 8 MiB reads and 12 MB prompts; images come inline. */
  messageBytes: 64 * MIB,
  /** The head of an envelope: one byte of flags, four of length (§1.2). */
  envelopeHeadBytes: 5,
  /** First room for a payload that spans chunks: one socket read, so that a small frame is gathered once. */
  envelopeFirstBytes: 64 * KIB,
  /** Two hex digits for each byte of an append (R7). */
  hexFactor: 2,
  /** What an append has besides its payload: ids, tags, lengths. Generous, so that it never decides. */
  appendHeadBytes: 64 * KIB,
  /** The body of a unary error that is read at all: a page of some proxy must not fill the memory. */
  errorBodyBytes: 64 * KIB,
  /** Compression pays from here up; below, gzip's own head eats the gain (R5: small frames stay plain). */
  compressFromBytes: KIB,

  /** Appends held while an earlier one is missing (R11). A stock client has some dozens on their way at most. */
  heldMessages: 1024,
  /** How long a gap may stay open before the stream fails retryably (R11). Above the time of a 24 MB upload. */
  gapGraceMs: 30 * SECOND,
  /** How long a stream without its first append waits (R12). */
  placeholderMs: 30 * SECOND,
  /** Streams without a first append, for each owner (R12): above what a client opens at once, with its child runs. */
  placeholdersPerOwner: 64,

  /** The first frame of a stream comes within this time (R16). */
  firstFrameMs: SECOND,
  /** The server breaks its silence after this time, at the latest (R16). */
  serverHeartbeatMs: 5 * SECOND,
  /** A client says that it is there about this often (R17). */
  clientHeartbeatMs: 5 * SECOND,
  /** A client says this often that an execution still runs (R17). */
  execHeartbeatMs: 3 * SECOND,
  /** Silence after which the other side counts as gone (R17). */
  silenceMs: 30 * SECOND,
  /** The least that silenceMs may be set to (R17): several heartbeats, so that one lost beat ends nothing. */
  silenceLeastMs: 15 * SECOND,
  /** The most that silenceMs may be set to (R17): a person waits no longer for a dead connection. */
  silenceMostMs: 75 * SECOND,
  /** How long a run without a reader is kept for a reconnect (R19). */
  readerGraceMs: 15 * SECOND,
  /** A run that was cancelled ends within this time (R53). */
  cancelMs: SECOND,
  /** A client that saw turn_ended waits this long for the end frame (§24), then takes the turn as ended. */
  endFrameMs: 5 * SECOND,

  /** The longest wait of one poll for its first message (R66). */
  pollWaitMs: 20 * SECOND,
  /** What one poll answers at most (R66). */
  pollBytes: MIB,

  /** How long a shell stays in the foreground by default (R30). */
  shellForegroundMs: 30 * SECOND,
  /** How long a shell lives at all (R30): a day. */
  shellHardMs: 86_400 * SECOND,
  /** Shell output above this is whole in a file (R30). */
  shellFileOutputBytes: 40_000,

  /** The longest call_id on the wire (R24); longer ones of a provider are mapped. */
  callIdCharacters: 64,
  /** The longest tool name that a provider takes (R61). */
  toolNameCharacters: 64,
  /** Where base64 of a bytes field is cut when a message is shown to a person. */
  shownBase64Characters: 64,
} as const;

/**
 * The largest body of a BidiAppend that can hold a message of `messageBytes`: hex and binary may both be there (R7).
 * A longer body is refused before it is read to its end (R8).
 */
export function appendBodyBytes(messageBytes: number): number {
  return messageBytes * (limits.hexFactor + 1) + limits.appendHeadBytes;
}
