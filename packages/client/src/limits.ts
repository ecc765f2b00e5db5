/**
 * Every bound and wait of the client, in one place. Times are milliseconds, sizes are bytes unless a name says otherwise.
 */
export const limits = {
  /** Longest frame taken from a stream, before and after decompression: the server's own default for one message (R8). */
  frameBytes: 64 * 1024 * 1024,
  /** Longest body of a unary answer. An append answers with nothing (§2.2); the rest is room for an error's text. */
  unaryAnswerBytes: 1024 * 1024,
  /** Longest model catalogue: some hundred models with variants stay far below. */
  catalogueBytes: 16 * 1024 * 1024,
  /** A stream without one whole frame for this long is given up; servers send a heartbeat every 5 s (R16, R17). */
  silence: 30_000,
  /** What that time may be set to (R17). */
  silenceShortest: 15_000,
  silenceLongest: 75_000,
  /** Between two client heartbeats (R17). */
  clientHeartbeat: 5_000,
  /** Between two heartbeats of a running exec (R17). */
  execHeartbeat: 3_000,
  /** After turn_ended the stream is given this long to end by itself; then the turn counts as ended (§24). */
  endAfterTurn: 5_000,
  /** However many checkpoints still follow turn_ended, this is the longest wait for the end of the stream. */
  endAfterTurnAtMost: 30_000,
  /** After a cancel the server is given this long to end the stream in order. */
  cancelGrace: 1_000,
  /** An aborted exec that does not settle is answered with a throw after this time (R33 waits for nobody). */
  abortGrace: 2_500,
  /** Small unary calls, such as the model catalogue. */
  unaryDeadline: 10_000,
  /** An append, whatever its size: acknowledgements do not wait for work (R7), only for the transfer. */
  appendDeadline: 60_000,
  /** More time for a large append: one millisecond for this many bytes (about 250 KiB/s, a slow uplink). */
  appendBytesPerMillisecond: 256,
  /** Appends on their way at once; a shell that prints faster than the server takes it waits here. */
  appendsInFlight: 32,
  /** An exec other than a shell or a question to a human has to settle within this time, or it is answered with a throw. */
  execDeadline: 300_000,
  /** One blob read or write. */
  blobDeadline: 30_000,
  /** Execs under way at once; one more is answered with a throw. The stock server sends some dozen. */
  execsAtOnce: 1_000,
  /** Child runs under way at once; one more is answered with an error. Each is a stream of its own to the server. */
  childrenAtOnce: 32,
  /** Child runs below child runs: deeper nesting is a model that calls itself. */
  childDepth: 5,
  /** Child runs that are over and can still be asked for or resumed. */
  childrenKept: 200,
  /** Bytes of finished answers kept to answer a repeated exec id without running it again. */
  answersKeptBytes: 32 * 1024 * 1024,
  /** Events waiting for a reader. With a reader the stream is read no further; without one the oldest are dropped. */
  eventsWaiting: 4_096,
  /** Wait before the first retry of a broken attempt; it doubles from one to the next. */
  retryFirst: 1_000,
  /** Longest wait between two attempts. */
  retryLongest: 30_000,
  /** Time that may be lost to broken connections in one run, waits included, before it fails. */
  retryBudget: 240_000,
  /** An attempt that worked this long resets the doubling. */
  retryHealthy: 60_000,
  /** Attempts against a server that never answered at all: more would only hide a wrong address. */
  attemptsNeverReached: 3,
  /** Blobs held in memory when no store is given. */
  memoryBlobBytes: 256 * 1024 * 1024,
} as const;
