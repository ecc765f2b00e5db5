/** Bounds of the server alone, each with its reason. Those that both sides share stand in the protocol, those a person may set in the config. */

/** One second is the promise for the first frame (R16); a heartbeat after 3 s of silence keeps the 5 s with room for a loop that a large message holds. */
export const HEARTBEAT_AFTER_MS = 3_000;
/** How often idle streams are looked at; HEARTBEAT_AFTER_MS + this stays within 5 s (R16). */
export const HEARTBEAT_SWEEP_MS = 500;
/** Open RunSSE requests of one owner without a run: each has a connection of its own, so a few thousand are a load, not a client. */
export const READERS_WAITING_PER_OWNER = 4_096;
/** How long an ended stream is remembered, so that late appends are known for what they are (R7, R13). */
export const ENDED_MS = 60_000;
/** Unread frames above this pause the model; a reader that keeps up holds far less. */
export const DOWNLINK_PAUSE_BYTES = 4 * 1024 * 1024;
/** Unread frames above this end the stream retryably (R19): three messages of the largest size. */
export const DOWNLINK_MAX_BYTES = 3 * 64 * 1024 * 1024;
/** Small frames share a slab of this size: some thousand deltas. A frame that waits for its reader keeps its slab in memory, so not more. */
export const FRAME_SLAB_BYTES = 64 * 1024;
/** A RunSSE request is one request id; nothing honest comes near. */
export const RUN_SSE_REQUEST_BYTES = 64 * 1024;
/** Frames above this stay plain: compressing one would hold every other stream for longer than it saves. */
export const COMPRESS_TO_BYTES = 512 * 1024;

/** Execs that look at or change files: 60 s, renewed by the exec's heartbeats (R17, R18). */
export const EXEC_WAIT_MS = 60_000;
/** The same, but never longer than this however much it beats: a write to a dead mount beats for ever. */
export const EXEC_MAX_MS = 10 * 60_000;
/** MCP tools may work for long, as long as they beat. */
export const MCP_MAX_MS = 60 * 60_000;
/** What a shell command may take above its foreground time before the client has to say something. */
export const SHELL_WAIT_MS = 60_000;
export const SHELL_MAX_MS = 86_400_000;
/** The context of a large repository takes a while (60 s was needed where 15 s failed). */
export const CONTEXT_WAIT_MS = 60_000;
export const BLOB_WAIT_MS = 60_000;
/** After stream_close without a result: the result may have been overtaken (R29). */
export const CLOSED_GRACE_MS = 2_000;
/** Bytes of one shell stream kept in the ledger; the ending event is always kept. */
export const LEDGER_STREAM_BYTES = 4 * 1024 * 1024;
/** Blobs asked of the client at one time. */
export const BLOB_GETS_AT_ONCE = 64;

/** Model calls in a row whose tool arguments were all unusable (R57). */
export const INVALID_CALLS_IN_A_ROW = 3;
/** Model calls in one turn: a stop for models that never come to an end, far above real work. */
export const MODEL_CALLS_PER_TURN = 500;

/** How long a draining server waits for its runs before it ends them retryably. */
export const DRAIN_MS = 30_000;
/** How long a server that drained waits for its readers to take their last frames: a client that polls is back at once. */
export const LAST_FRAMES_MS = 2_000;
/** A connection that says nothing, or sends its head slower than this, is closed. */
export const CONNECTION_SILENCE_MS = 30_000;
/** A request body must arrive within this; large prompts over slow links take a while. */
export const BODY_MS = 120_000;
/** What is left of a request body that was refused may take this long; then its connection is cut. */
export const LEFT_OVER_MS = 5_000;
/** How long the end of a command waits for output that it overtook: appends overtake each other by milliseconds. */
export const EARLY_END_MS = 1_000;
