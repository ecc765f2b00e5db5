/** What the system's codes of a broken connection mean for a person, as the end of a sentence about the other side. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'its host name cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ETIMEDOUT: 'the connection was not made in time',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not made in time',
  EHOSTUNREACH: 'no way of the network leads there',
  ENETUNREACH: 'no way of the network leads there',
  EADDRNOTAVAIL: 'its address is none that can be called',
  ERR_INVALID_URL: 'its address is none',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted('signed by itself'),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted('signed by somebody unknown here'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted('signed by somebody unknown here'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted('signed by somebody unknown here'),
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS, so its address may have to begin with http://',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS, so its address may have to begin with http://',
};

/** The same for failures that have a text and no code. */
const TEXTS: Readonly<Record<string, string>> = {
  'bad port': 'its port is one that HTTP never calls',
  'unexpected redirect': 'it answers by a redirect, which is not followed',
};

/** How deep an error is looked into for its cause. */
const CAUSES = 8;

function untrusted(by: string): string {
  return `its certificate is ${by}; NODE_EXTRA_CA_CERTS=FILE, set before the start, names one to trust`;
}

/**
 * What happened to a connection, as the end of a sentence about the other side, with the system's code for whoever looks it up:
 * `nobody listens there (ECONNREFUSED)`. Where nothing is known of a failure, its own text.
 */
export function connectionWords(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined && Object.hasOwn(WORDS, code)) return `${WORDS[code]} (${code})`;
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time';
  const text = innermostMessage(error);
  return Object.hasOwn(TEXTS, text) ? TEXTS[text]! : text;
}

/** The text of the innermost cause, which says what happened; the outer ones say only that something did. */
export function innermostMessage(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < CAUSES && inner instanceof Error && inner.cause instanceof Error; depth++)
    inner = inner.cause;
  // a failed try of several addresses has no text of its own
  if (inner instanceof AggregateError && inner.errors.length > 0) inner = inner.errors[0];
  if (!(inner instanceof Error)) return String(inner);
  return inner.message === '' ? (codeOf(inner) ?? inner.name) : inner.message;
}

/** The system's code in an error or one of its causes. */
export function codeOf(error: unknown): string | undefined {
  let inner = error;
  for (let depth = 0; depth < CAUSES && inner instanceof Error; depth++) {
    const code = (inner as Error & { code?: unknown }).code;
    if (typeof code === 'string') return code;
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return undefined;
}
