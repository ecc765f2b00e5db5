/** Bounds of a model call, each with its reason; those that a person may set stand in the config's limits. Times are milliseconds, sizes are bytes. */

/** The wait before the second try; doubled for each further one. */
export const FIRST_RETRY_MS = 500;
/** The longest wait that we choose ourselves. */
export const LONGEST_RETRY_MS = 8_000;
/** The longest wait that a provider may ask for (R56). A longer one is told to the person at once instead. */
export const LONGEST_RETRY_AFTER_MS = 20_000;

/** Silence that the HTTP client itself allows, above what the config sets: the last line of defence when a caller watches no clock. */
export const HTTP_SILENCE_MS = 3_700_000;
/** A provider that does not even take the connection. */
export const CONNECT_MS = 15_000;

/** Calls in a row that found a provider broken, after which it is left alone for a while: above what two turns try (R56). */
export const BREAKER_FAILURES = 10;
/** How long a broken provider is left alone before one call tries it again. */
export const BREAKER_MS = 10_000;

/** How much of an error body is read at all: a page of some proxy must not fill the memory. */
export const ERROR_BODY_BYTES = 64 * 1024;
/** How much of a provider's own words is passed on. */
export const ERROR_TEXT_CHARACTERS = 8 * 1024;
/** One event of a stream. The largest honest one holds all arguments of a call: a whole file. */
export const EVENT_CHARACTERS = 64 * 1024 * 1024;
/** Tool calls in one answer; far above what models do, few enough to bound the memory. */
export const TOOL_CALLS = 512;

/** How long the models that a provider listed are taken as they are: new ones come every few weeks, local ones whenever a person fetches one. */
export const LIST_FRESH_MS = 10 * 60_000;
/** How soon a provider that did not list its models is asked again: a local server is started a moment after it was missed. */
export const LIST_AGAIN_MS = 10_000;
/** How long a provider may take to list its models. */
export const LIST_MODELS_MS = 2_000;
/** The body of a list of models: the longest known has some hundred entries of a kilobyte. */
export const LIST_MODELS_BYTES = 8 * 1024 * 1024;

/** The longest answer to ask for where the wire wants a number and the config gives none: asking for all that a model can makes it slow to begin (F85). */
export const LONGEST_UNASKED = 32_000;

/** The window of a model that nobody described. Most current models have at least this. */
export const DEFAULT_CONTEXT_WINDOW = 128_000;
/** The longest answer of a model that nobody described; used for our own sums, never sent. */
export const DEFAULT_MAX_OUTPUT = 8_192;
