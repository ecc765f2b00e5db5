/** Bounds of the tools, each with its reason. */

/** Characters of one tool result that the model reads (R34): some 8,000 tokens, so that a full round of calls fits any window. */
export const RESULT_CHARACTERS = 32_000;
/** Characters of one file read: files are read on purpose, and a source file of ordinary length comes whole. */
export const READ_CHARACTERS = 100_000;
/** Characters of one line that the model reads: longer ones are data or minified code. */
export const LINE_CHARACTERS = 2_000;
/** Characters of stdout, and of stderr, that a card keeps: what a stock client sends of one command at most (R30, R34). */
export const CARD_OUTPUT_CHARACTERS = 1_000_000;
/** Characters of the diff on an edit card; above it the two full texts on the card say it all. */
export const DIFF_CHARACTERS = 1_000_000;
/** Changed lines until the diff stops looking for the smallest one: the search grows with their square and holds all streams. */
export const DIFF_EDITS = 500;
/** Lines between the first and the last change above which nothing is searched: half a second of work for every other stream. */
export const DIFF_LINES = 20_000;
/** Bytes of an image that go to the model: the smallest cap of the large providers. */
export const IMAGE_BYTES = 5 * 1024 * 1024;
/** Lines (or files) of a search when the model named no head_limit. */
export const GREP_HEAD_LIMIT = 250;
/** Files of a Glob that the model reads. */
export const GLOB_FILES = 200;
/** Files of a Glob that its card keeps. */
export const CARD_GLOB_FILES = 5_000;
/** Entries of a directory tree that the model reads. */
export const LS_ENTRIES = 1_000;
/** Lines of a file in which a failed StrReplace looks for the nearest one, and characters of each that are compared. */
export const NEAREST_LINE_SCAN = 5_000;
export const NEAREST_LINE_CHARACTERS = 160;

/** Milliseconds a command stays in the foreground when the call does not say (R30). */
export const SHELL_FOREGROUND_MS = 30_000;
/** Milliseconds until a client kills a command: a day (R30). */
export const SHELL_HARD_TIMEOUT_MS = 86_400_000;
/** Bytes of output above which a client keeps all of it in a file (R30). */
export const SHELL_FILE_THRESHOLD_BYTES = 40_000n;
/** Milliseconds an AwaitShell waits when the call does not say. */
export const AWAIT_MS = 30_000;
/** The longest AwaitShell: an hour; a model that needs longer asks again. */
export const AWAIT_MAX_MS = 3_600_000;
/** Milliseconds between two looks at a terminal file: the first, how it grows, the longest. */
export const AWAIT_POLL = { first: 500, growth: 1.6, longest: 5_000 };
/** Looks at a terminal file that is not there before the shell counts as unknown: the client may still be making it. */
export const AWAIT_MISSING_POLLS = 3;
/** Characters of a terminal file's tail that AwaitShell shows. */
export const AWAIT_TAIL_CHARACTERS = 8_000;
/** Milliseconds a pattern written by the model may take: some patterns never end on some texts. */
export const PATTERN_MS = 200;

/** MCP tools offered under their own names; with more, the model goes through GetMcpTools and CallMcpTool. */
export const FLAT_MCP_TOOLS = 60;
/** Characters of their schemas and descriptions together: some 15,000 tokens in every model call. */
export const FLAT_MCP_CHARACTERS = 60_000;
/** Levels of a tool schema that are walked; deeper ones accept anything. */
export const SCHEMA_DEPTH = 32;
/**
 * Levels of a call's arguments: each becomes two or three nested messages on the wire, and decoders give up at a hundred.
 */
export const ARGUMENT_DEPTH = 30;
/** Files of one ReadLints: each is an exec, and a checker may look at the whole project for it. */
export const LINT_PATHS = 20;
/** Todos of one list: more than a person reads. */
export const TODO_ITEMS = 500;
