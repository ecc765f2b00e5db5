import { crc32 } from 'node:zlib';
import { EVENT_CHARACTERS } from '../limits.ts';
import type { ServerSentEvent } from '../server-sent-events.ts';
import type { EventDecoder } from './wire.ts';

/** Length of the whole, length of the headers, checksum of the two. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** How long the values of a header are, by their type; texts and bytes say it themselves. */
const FIXED_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

/**
 * The binary framing of AWS (`application/vnd.amazon.eventstream`) as events: the name is that of the event, or `error` with the
 * kind of the exception in the data.
 */
export class AwsEventDecoder implements EventDecoder {
  #rest: Buffer = Buffer.alloc(0);

  push(bytes: Uint8Array): ServerSentEvent[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    const events: ServerSentEvent[] = [];
    while (this.#rest.length >= PRELUDE_BYTES) {
      const length = this.#rest.readUInt32BE(0);
      if (crc32(this.#rest.subarray(0, 8)) !== this.#rest.readUInt32BE(8)) throw new Error('a frame is damaged');
      if (length > EVENT_CHARACTERS) throw new RangeError(`one event is longer than ${EVENT_CHARACTERS} bytes`);
      if (this.#rest.length < length) break;
      events.push(readFrame(this.#rest.subarray(0, length)));
      this.#rest = this.#rest.subarray(length);
    }
    return events;
  }

  finish(): ServerSentEvent[] {
    if (this.#rest.length > 0) throw new Error('the answer ended inside a frame');
    return [];
  }
}

function readFrame(frame: Buffer): ServerSentEvent {
  const end = frame.length - CHECKSUM_BYTES;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw new Error('a frame is damaged');
  const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4);
  const headers = readHeaders(frame.subarray(PRELUDE_BYTES, headersEnd));
  const data = frame.toString('utf8', headersEnd, end);
  const kind = headers.get(':exception-type') ?? headers.get(':error-code');
  if (kind === undefined) return { event: headers.get(':event-type') ?? '', data };
  return { event: 'error', data: JSON.stringify({ error: { type: kind, message: messageIn(data) || kind } }) };
}

function messageIn(data: string): string {
  try {
    const value = JSON.parse(data) as { message?: unknown; Message?: unknown; originalMessage?: unknown } | null;
    const said = value?.message ?? value?.Message ?? value?.originalMessage;
    return typeof said === 'string' ? said : data;
  } catch {
    return data; // a text, not JSON
  }
}

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString('utf8', at + 1, nameEnd);
    const type = bytes.readUInt8(nameEnd);
    const fixed = FIXED_BYTES[type];
    const from = nameEnd + 1 + (fixed === undefined ? 2 : 0);
    at = from + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
    if (type === 7) headers.set(name, bytes.toString('utf8', from, at));
  }
  return headers;
}
