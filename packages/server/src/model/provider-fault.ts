import type { Fault, FaultName, FaultOptions } from '@tandem/protocol';
import { fault } from '@tandem/protocol';
import { redactCutText } from '../observe/secret-text.ts';
import { codeOf, connectionWords, innermostMessage } from './connection-words.ts';
import { ERROR_BODY_BYTES, ERROR_TEXT_CHARACTERS } from './limits.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { BROKEN_STREAM } from './wires/event-json.ts';

/** What an error text may say about a provider, and what it may not. */
export interface ProviderFacts {
  /** Its name in the config. */
  readonly name: string;
  /** Its address without credentials. */
  readonly address: string;
  /** The id of the model that was asked. */
  readonly modelId: string;
  readonly secrets: readonly string[];
}

/** An HTTP answer that was no success. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Wordings of an input that does not fit; the code `context_length_exceeded` is one of them. */
const TOO_LONG =
  /context.?length|context.?window|context.?size|maximum.?context|prompt is too long|input is too long|too many (?:input )?tokens|exceeds? the (?:model's )?max(?:imum)?(?: number of)? (?:input )?tokens|token count.{0,40}exceeds|reduce the length of the (?:messages|prompt|input)|first \d+ tokens when context/i;

/** Keys that are refused under a status of their own: Google calls a wrong key a bad request. */
const WRONG_KEY = /API_KEY_INVALID|API key not valid|API key expired/i;

/** A model that the provider does not have. */
const NO_MODEL =
  /model.{0,80}(?:not.?found|does not exist|not exist|no access|not supported)|model_not_found|not_found_error|no such model/is;

/** A limit that no wait lifts. */
const QUOTA = /insufficient_quota|exceeded your current quota|billing|insufficient.{0,20}(?:credit|balance|funds)/i;

/** Statuses after which another try may help (R56), besides all of 500 and above. */
const TRANSIENT = new Set([408, 409, 424, 425, 429]);

/** The failure of a call that got no answer at all: the connection was refused, reset, or never made. */
export function faultOfTransport(error: unknown, facts: ProviderFacts): Fault {
  const said = clean(connectionWords(error), facts);
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return fault('provider_silent', `${facts.name} at ${facts.address} did not answer: ${said}`, { retryable: true });
  }
  const isUnreachable = UNREACHABLE.has(code ?? '') || innermostMessage(error) === 'bad port';
  const hint = isUnreachable ? ' Is it running, and is its address right? "tandem doctor" looks.' : '';
  return fault('provider_unavailable', `The connection to ${facts.name} at ${facts.address} failed: ${said}.${hint}`, {
    retryable: true,
    ...(isUnreachable ? { additionalInfo: { [UNREACHABLE_INFO]: 'true' } } : {}),
  });
}

/** Nobody is there, or the name is nobody's: a person has to look, and no client should try for minutes. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EADDRNOTAVAIL', 'ERR_INVALID_URL']);
/** In `additional_info` of a fault whose provider could not be reached at all. */
export const UNREACHABLE_INFO = 'provider_unreachable';

/**
 * The failure that an HTTP answer means (R55).
 *
 * @param now milliseconds since the epoch, for waits that are given as a date
 */
export function faultOfAnswer(answer: FailedAnswer, facts: ProviderFacts, now: number): Fault {
  const words = clean(wordsOf(answer.body), facts);
  const request = requestIdOf(answer.headers);
  const about = `${answer.status} for the model ${facts.modelId}${request === undefined ? '' : ` (its request ${request})`}`;
  const detail = `${facts.name} answered ${about}${words === '' ? '.' : `: ${words}`}`;
  const options: FaultOptions = {};
  const wait = retryAfterSeconds(answer.headers, answer.body, now);
  if (wait !== undefined) options.additionalInfo = { retry_after_seconds: String(wait) };
  return byStatus(answer.status, `${answer.body}`, detail, options);
}

/** The headers in which providers name a call. */
const REQUEST_IDS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id'];

/** The id under which the provider finds the call in its own log (F88). */
function requestIdOf(headers: FailedAnswer['headers']): string | undefined {
  const id = REQUEST_IDS.map(name => headers[name]).find(value => value !== undefined);
  return id !== undefined && /^[\w.:-]{1,128}$/.test(id) ? id : undefined;
}

/** The failure that an error event inside an answer means (P27, R56): the same as the status that it stands for. */
export function faultOfEvent(error: unknown, facts: ProviderFacts): Fault {
  if (error instanceof Error) return faultOfTransport(error, facts);
  const { message, type, code } = (error ?? {}) as { message?: unknown; type?: unknown; code?: unknown };
  const words = clean(typeof message === 'string' ? message : JSON.stringify(error), facts);
  if (type === BROKEN_STREAM) {
    return fault('provider_unavailable', `The answer of ${facts.name} at ${facts.address} broke off: ${words}`, {
      retryable: true,
    });
  }
  const kind = [type, code].filter(value => typeof value === 'string').join(' ');
  const detail = `${facts.name} reported a failure of the model ${facts.modelId}${kind === '' ? '' : ` (${clean(kind, facts)})`}: ${words}`;
  const wait = retryAfterSeconds({}, words, 0);
  const options: FaultOptions = wait === undefined ? {} : { additionalInfo: { retry_after_seconds: String(wait) } };
  return byStatus(statusOf(kind, code, words), `${kind} ${words}`, detail, options);
}

function byStatus(status: number, said: string, detail: string, options: FaultOptions): Fault {
  const make = (name: FaultName, text: string, retryable: boolean) => fault(name, text, { ...options, retryable });
  if ((status === 400 || status === 413 || status === 422 || status >= 500) && TOO_LONG.test(said)) {
    return make('conversation_too_long', detail, false);
  }
  if (status === 401 || status === 403 || (status === 400 && WRONG_KEY.test(said))) {
    return make(
      'provider_credentials',
      `${detail}\nCheck the provider's apiKey in the config or the environment.`,
      false,
    );
  }
  if (status === 404 && NO_MODEL.test(said)) return make('unknown_model', detail, false);
  if (status === 429) {
    const wait = options.additionalInfo?.['retry_after_seconds'];
    const advice = wait === undefined ? '' : `\nIt asks to wait ${wait} ${wait === '1' ? 'second' : 'seconds'}.`;
    return make('provider_rate_limited', detail + advice, !QUOTA.test(said));
  }
  if (TRANSIENT.has(status) || status >= 500) return make('provider_unavailable', detail, true);
  return make('provider_refused_request', detail, false);
}

function statusOf(kind: string, code: unknown, words: string): number {
  const number = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  if (typeof number === 'number' && number >= 400 && number < 600) return number;
  if (TOO_LONG.test(kind) || TOO_LONG.test(words)) return 400;
  if (/rate_?limit|too_many_requests|quota|resource_exhausted|throttl/i.test(kind)) return 429;
  if (/authentication|invalid_api_key|unauthorized/i.test(kind)) return 401;
  if (/permission|forbidden/i.test(kind)) return 403;
  if (/overload/i.test(kind)) return 529;
  if (/invalid_request|bad_request|not_found|invalid_prompt|validation/i.test(kind)) return 400;
  return 500; // unknown failures are the provider's own until it says otherwise
}

/** The provider's own words in an error body: the usual fields, else the body as it is. */
function wordsOf(body: string): string {
  try {
    const value = JSON.parse(body) as unknown;
    const found = findWords(value);
    if (found !== undefined) return found;
  } catch {
    // not JSON: a page of a proxy, or plain text
  }
  return body
    .replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function findWords(value: unknown): string | undefined {
  if (Array.isArray(value)) return findWords(value[0]); // Google wraps its error in a list
  if (typeof value !== 'object' || value === null) return undefined;
  const record = value as Record<string, unknown>;
  for (const name of ['message', 'detail', 'error_description', 'msg']) {
    if (typeof record[name] === 'string' && record[name] !== '') return record[name];
  }
  if (typeof record['error'] === 'string') return record['error'];
  return findWords(record['error']) ?? findWords(record['detail']);
}

function clean(text: string, facts: ProviderFacts): string {
  const said = redactCutText(text.slice(0, ERROR_BODY_BYTES).toWellFormed(), facts.secrets).trim();
  return said.length > ERROR_TEXT_CHARACTERS ? `${said.slice(0, ERROR_TEXT_CHARACTERS).toWellFormed()}…` : said;
}
