import { ErrorDetails_Error as Kind } from '../gen/aiserver/v1/errors_pb.js';
import type { Code } from './code.ts';

/** One row of the fault table. */
export interface FaultRow {
  /** The Connect code on the wire (R55). */
  readonly code: Code;
  /** The value of `ErrorDetails.error` (R54). */
  readonly error: Kind;
  /** Whether a client may replay the whole turn (R54). The one who throws may know better and override it. */
  readonly retryable: boolean;
  /** A few words for a person. */
  readonly title: string;
  /** When this happens, as a sentence. */
  readonly when: string;
}

/**
 * Every way in which a stream or an RPC fails, by name (R54, R55).
 *
 * `aborted` stands in no row, since stock clients retry it whatever the detail says; `canceled` stands in one alone, for a
 * run that its own client cancelled. `internal` is for bugs of ours: one client replaces the text of that code, so
 * nothing a person should read carries it.
 */
export const faults = {
  malformed_message: {
    code: 'invalid_argument',
    error: Kind.BAD_REQUEST,
    retryable: false,
    title: 'Malformed message',
    when: 'Bytes from the other side are not the message, the envelope or the hex that they should be.',
  },
  wrong_content_type: {
    code: 'invalid_argument',
    error: Kind.BAD_REQUEST,
    retryable: false,
    title: 'Wrong content type',
    when: 'A request has a content type that the RPC does not speak.',
  },
  message_too_large: {
    code: 'resource_exhausted',
    error: Kind.RESOURCE_EXHAUSTED,
    retryable: false,
    title: 'Message too large',
    when: 'A message is larger than the limit, which stands in the text beside its size (R8).',
  },
  bad_request: {
    code: 'invalid_argument',
    error: Kind.BAD_REQUEST,
    retryable: false,
    title: 'Bad request',
    when: 'A message is readable, but what it asks for makes no sense.',
  },
  bad_state: {
    code: 'invalid_argument',
    error: Kind.BAD_REQUEST,
    retryable: false,
    title: 'Unreadable conversation state',
    when: 'The checkpoint that a run brings cannot be read (R39, R45).',
  },
  unauthenticated: {
    code: 'unauthenticated',
    error: Kind.UNAUTHORIZED,
    retryable: false,
    title: 'Not authenticated',
    when: 'A request carries no key, or one that this server does not know.',
  },
  forbidden_origin: {
    code: 'permission_denied',
    error: Kind.UNAUTHORIZED,
    retryable: false,
    title: 'Origin not allowed',
    when: 'A request comes from an address, for a host or from a web page that is not allowed.',
  },
  unknown_model: {
    code: 'invalid_argument',
    error: Kind.BAD_MODEL_NAME,
    retryable: false,
    title: 'Unknown model',
    when: 'A run asks for a model that no provider offers, and the text names the nearest ones; or the provider itself does not have it.',
  },
  conversation_too_long: {
    code: 'invalid_argument',
    error: Kind.CONVERSATION_TOO_LONG,
    retryable: false,
    title: 'Conversation too long',
    when: "The input does not fit the model's window, and summarising does not free enough.",
  },
  provider_unavailable: {
    code: 'unavailable',
    error: Kind.PROVIDER_ERROR,
    retryable: false,
    title: 'Provider unavailable',
    when: 'The provider is down, overloaded or cut the connection, and our own retries did not help (R56).',
  },
  provider_rate_limited: {
    code: 'resource_exhausted',
    error: Kind.RATE_LIMITED,
    retryable: false,
    title: 'Provider rate limit',
    when: 'The provider asks to wait; how long stands in the text and in retry_after_seconds (R55).',
  },
  provider_credentials: {
    code: 'failed_precondition',
    error: Kind.BAD_USER_API_KEY,
    retryable: false,
    title: 'Provider refused the key',
    when: 'The key for the provider is missing, wrong or not allowed to use the model.',
  },
  credentials_refused: {
    code: 'permission_denied',
    error: Kind.BAD_USER_API_KEY,
    retryable: false,
    title: 'Own key not taken',
    when: 'A run brings credentials, or an address for them, that the policy of the server does not allow (§6).',
  },
  budget_spent: {
    code: 'resource_exhausted',
    error: Kind.CUSTOM_MESSAGE,
    retryable: false,
    title: 'Budget spent',
    when: 'The key has spent what the config gives it for the day or the month; the run stops before its next model call.',
  },
  provider_refused_request: {
    code: 'failed_precondition',
    error: Kind.PROVIDER_ERROR,
    retryable: false,
    title: 'Provider refused the request',
    when: 'The provider answered that the request itself is wrong.',
  },
  provider_broke_off: {
    code: 'unavailable',
    error: Kind.PROVIDER_ERROR,
    retryable: false,
    title: 'Provider broke off',
    when: 'The answer of the provider ended in the middle, after some of it was shown (R56, R57).',
  },
  provider_silent: {
    code: 'unavailable',
    error: Kind.TIMEOUT,
    retryable: false,
    title: 'Provider fell silent',
    when: 'The provider sent nothing for longer than its deadline.',
  },
  empty_answer: {
    code: 'unavailable',
    error: Kind.PROVIDER_ERROR,
    retryable: false,
    title: 'Empty answer',
    when: 'The model stopped without a word, twice (R57).',
  },
  superseded: {
    code: 'failed_precondition',
    error: Kind.CUSTOM_MESSAGE,
    retryable: false,
    title: 'Superseded',
    when: 'A newer run on the same conversation, or a new attempt of the same run, took over (R15).',
  },
  canceled: {
    code: 'canceled',
    error: Kind.USER_ABORTED_REQUEST,
    retryable: false,
    title: 'Canceled',
    when: 'The client cancelled its own run (R53).',
  },
  placeholder_expired: {
    code: 'deadline_exceeded',
    error: Kind.TIMEOUT,
    retryable: true,
    title: 'No message arrived',
    when: 'A stream was opened, and no first message for it came in time (R12).',
  },
  append_gap: {
    code: 'unavailable',
    error: Kind.NETWORK_ERROR,
    retryable: true,
    title: 'A message is missing',
    when: 'Later messages of a stream arrived, an earlier one did not (R11).',
  },
  too_many_streams: {
    code: 'resource_exhausted',
    error: Kind.RESOURCE_EXHAUSTED,
    retryable: false,
    title: 'Too many streams',
    when: 'One owner has as many open streams as the server allows (R12).',
  },
  buffer_overflow: {
    code: 'unavailable',
    error: Kind.NETWORK_ERROR,
    retryable: true,
    title: 'Reader too slow',
    when: 'More is waiting for a stream than the server keeps (R19).',
  },
  blob_rejected: {
    code: 'failed_precondition',
    error: Kind.CUSTOM_MESSAGE,
    retryable: false,
    title: 'The client could not store a blob',
    when: 'The client answered a set_blob with an error, or not at all (R42).',
  },
  blob_missing: {
    code: 'failed_precondition',
    error: Kind.CUSTOM_MESSAGE,
    retryable: false,
    title: 'A blob is missing',
    when: 'The state refers to a blob that nobody has, or whose bytes do not fit its id (R41).',
  },
  unsupported_action: {
    code: 'unimplemented',
    error: Kind.BAD_REQUEST,
    retryable: false,
    title: 'Action not supported',
    when: 'A run brings an action that this server does not carry out.',
  },
  unimplemented: {
    code: 'unimplemented',
    error: Kind.BAD_REQUEST,
    retryable: false,
    title: 'Not implemented',
    when: 'A request calls an RPC that this server does not offer.',
  },
  shutting_down: {
    code: 'unavailable',
    error: Kind.NETWORK_ERROR,
    retryable: true,
    title: 'Server is shutting down',
    when: 'The server drains, or ends what did not drain in time.',
  },
  internal: {
    code: 'internal',
    error: Kind.INTERNAL,
    retryable: false,
    title: 'Internal error',
    when: 'A bug of this server; the log has the cause, the wire has a neutral text.',
  },
  reported: {
    code: 'unknown',
    error: Kind.UNSPECIFIED,
    retryable: false,
    title: 'The other side failed',
    when: 'The other side reported a failure; code, title and error are the ones it sent.',
  },
} as const satisfies Record<string, FaultRow>;

/** The name of a row of {@link faults}. */
export type FaultName = keyof typeof faults;
