/** The codes of Connect. A failure on a stream carries one of them beside its typed detail (§24, R55). */
export type Code =
  | 'canceled'
  | 'unknown'
  | 'invalid_argument'
  | 'deadline_exceeded'
  | 'not_found'
  | 'already_exists'
  | 'permission_denied'
  | 'resource_exhausted'
  | 'failed_precondition'
  | 'aborted'
  | 'out_of_range'
  | 'unimplemented'
  | 'internal'
  | 'unavailable'
  | 'data_loss'
  | 'unauthenticated';

/** The HTTP status that a unary error of each code answers with, as Connect maps them. */
const statuses: Record<Code, number> = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  aborted: 409,
  out_of_range: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  data_loss: 500,
  unauthenticated: 401,
};

/** What a bare HTTP status means when no readable error stands in the body. Not the inverse of the table above. */
const codes: Record<number, Code> = {
  400: 'internal',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'unimplemented',
  408: 'deadline_exceeded',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** Whether a word from the wire is one of the sixteen codes. */
export function isCode(word: unknown): word is Code {
  return typeof word === 'string' && Object.hasOwn(statuses, word);
}

/** The HTTP status of a unary error. */
export function statusOfCode(code: Code): number {
  return statuses[code];
}

/** The code of an answer of which only the HTTP status is readable. */
export function codeOfStatus(status: number): Code {
  return codes[status] ?? 'unknown';
}
