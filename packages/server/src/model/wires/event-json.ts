import type { ServerSentEvent } from '../server-sent-events.ts';
import type { StreamError } from './wire.ts';

/** The error type under which a broken connection is told. */
export const BROKEN_STREAM = 'tandem_broken_stream';

/** What came in one event: a JSON object, or the failure that it reports. */
export type EventJson = { json: Record<string, unknown> } | { failure: StreamError };

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text field, empty where it is missing or something else. */
export function textIn(json: Record<string, unknown>, name: string): string {
  const value = json[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Reads one event of an answer. A line of prose from a gateway is passed over; an object cut in two is a failure, and so is
 * an error in any of the forms in which providers put it inside an answer that began well (P27).
 */
export function readEvent(event: ServerSentEvent): EventJson | undefined {
  const text = event.data.trim();
  if (text === '' || text === '[DONE]') return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (event.event === 'error') return { failure: { type: 'error', error: { message: text } } };
    return text.startsWith('{')
      ? { failure: brokenStream(`an event is not JSON: ${(error as Error).message}`) }
      : undefined;
  }
  const value: unknown = Array.isArray(json) ? (json as unknown[])[0] : json; // Google wraps its error in a list
  if (!isRecord(value)) return undefined;
  const { error } = value;
  if (isRecord(error)) return { failure: { type: 'error', error: inOneShape(error) } };
  if (typeof error === 'string' && error !== '')
    return { failure: { type: 'error', error: { ...value, message: error } } };
  if (event.event === 'error' || value['type'] === 'error' || value['object'] === 'error')
    return { failure: { type: 'error', error: inOneShape(value) } };
  return { json: value };
}

/** The failure of a connection that broke, or whose bytes did. */
export function brokenStream(message: string): StreamError {
  return { type: 'error', error: { message, type: BROKEN_STREAM } };
}

function inOneShape(error: Record<string, unknown>): Record<string, unknown> {
  const { code, status, type } = error;
  const said = error['message'] ?? error['detail'] ?? error['msg'];
  const isNumber = typeof status === 'number' || (typeof status === 'string' && /^\d+$/.test(status));
  const kind = typeof status === 'string' && !isNumber ? status : type === 'error' ? undefined : type;
  const number = code ?? (isNumber ? status : undefined);
  return {
    message: typeof said === 'string' && said !== '' ? said : JSON.stringify(error),
    ...(typeof kind === 'string' && { type: kind }),
    ...((typeof number === 'string' || typeof number === 'number') && { code: number }),
  };
}
