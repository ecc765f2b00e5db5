import { fault } from './fault.ts';
import { limits } from './limits.ts';

/** The payload is compressed by the codec that the stream's headers name. §1.2 */
export const FLAG_COMPRESSED = 0x01;
/** The payload is the end state of the stream, as JSON, and no message. §1.2, R3 */
export const FLAG_END_STREAM = 0x02;

const RESERVED = 0xff & ~(FLAG_COMPRESSED | FLAG_END_STREAM);

/** One frame of a Connect stream. The payload may be a view on a chunk that was pushed: copy before keeping. */
export interface Envelope {
  flags: number;
  payload: Uint8Array;
  compressed: boolean;
  endStream: boolean;
}

/** A frame: flags, length in big endian, payload. §1.2 */
export function encodeEnvelope(payload: Uint8Array, flags = 0): Uint8Array {
  const frame = new Uint8Array(limits.envelopeHeadBytes + payload.byteLength);
  frame[0] = flags;
  new DataView(frame.buffer).setUint32(1, payload.byteLength);
  frame.set(payload, limits.envelopeHeadBytes);
  return frame;
}

/**
 * Reads frames from chunks that are cut anywhere.
 *
 * The reader is between frames, inside a head (some of its five bytes are here), or inside a payload whose length is
 * known. A payload that lies in one chunk is not copied. One that spans chunks is gathered in a buffer that doubles, so
 * that neither one-byte chunks nor a head that promises much and brings nothing cost more than what really came.
 */
export class EnvelopeReader {
  readonly #maxBytes: number;
  readonly #head = new Uint8Array(limits.envelopeHeadBytes);
  #headBytes = 0;
  #length = 0;
  #payload = new Uint8Array(0);
  #payloadBytes = 0;

  /** @param options.maxBytes the longest payload that is taken, as it is on the wire */
  constructor(options: { maxBytes: number }) {
    this.#maxBytes = options.maxBytes;
  }

  /** How many bytes of an unfinished frame are here; 0 between frames. */
  get buffered(): number {
    return this.#headBytes + this.#payloadBytes;
  }

  /**
   * Takes a chunk and gives the frames that it completes.
   *
   * @throws Fault `malformed_message` for reserved flag bits, `message_too_large` for a length over the limit, both as
   *   soon as the head is here. The reader is of no use afterwards.
   */
  push(chunk: Uint8Array): Envelope[] {
    const done: Envelope[] = [];
    let at = 0;
    while (at < chunk.byteLength) {
      if (this.#headBytes < limits.envelopeHeadBytes) {
        const take = Math.min(limits.envelopeHeadBytes - this.#headBytes, chunk.byteLength - at);
        this.#head.set(chunk.subarray(at, at + take), this.#headBytes);
        this.#headBytes += take;
        at += take;
        if (this.#headBytes < limits.envelopeHeadBytes) break;
        this.#openPayload();
      }
      const missing = this.#length - this.#payloadBytes;
      const take = Math.min(missing, chunk.byteLength - at);
      const piece = chunk.subarray(at, at + take);
      at += take;
      if (take === missing && this.#payloadBytes === 0) done.push(this.#close(piece));
      else {
        this.#gather(piece);
        if (take === missing) done.push(this.#close(this.#payload.subarray(0, this.#length)));
      }
    }
    return done;
  }

  /** Says that nothing more comes. @throws Fault `malformed_message` inside a frame, with what is missing */
  finish(): void {
    if (this.#headBytes === 0) return;
    if (this.#headBytes < limits.envelopeHeadBytes) {
      const missing = limits.envelopeHeadBytes - this.#headBytes;
      throw fault(
        'malformed_message',
        `The body ends inside the head of an envelope: ${missing} of 5 bytes are missing.`,
      );
    }
    const missing = this.#length - this.#payloadBytes;
    throw fault(
      'malformed_message',
      `The body ends inside an envelope: ${missing} of ${this.#length} bytes are missing.`,
    );
  }

  #openPayload(): void {
    const flags = this.#head[0] ?? 0;
    if ((flags & RESERVED) !== 0) {
      const shown = `0x${flags.toString(16).padStart(2, '0')}`;
      throw fault(
        'malformed_message',
        `An envelope has flags ${shown}; only 0x01 (compressed) and 0x02 (end of stream) exist. Is the body enveloped?`,
      );
    }
    this.#length = new DataView(this.#head.buffer).getUint32(1);
    if (this.#length > this.#maxBytes) {
      throw fault(
        'message_too_large',
        `An envelope of ${this.#length} bytes is over the limit of ${this.#maxBytes} bytes for one message.`,
        { additionalInfo: { limit_bytes: String(this.#maxBytes), actual_bytes: String(this.#length) } },
      );
    }
  }

  #gather(piece: Uint8Array): void {
    const needed = this.#payloadBytes + piece.byteLength;
    if (needed > this.#payload.byteLength) {
      const room = Math.min(this.#length, Math.max(needed, this.#payload.byteLength * 2, limits.envelopeFirstBytes));
      const grown = new Uint8Array(room);
      grown.set(this.#payload.subarray(0, this.#payloadBytes));
      this.#payload = grown;
    }
    this.#payload.set(piece, this.#payloadBytes);
    this.#payloadBytes = needed;
  }

  #close(payload: Uint8Array): Envelope {
    const flags = this.#head[0] ?? 0;
    this.#headBytes = 0;
    this.#payload = new Uint8Array(0);
    this.#payloadBytes = 0;
    return {
      flags,
      payload,
      compressed: (flags & FLAG_COMPRESSED) !== 0,
      endStream: (flags & FLAG_END_STREAM) !== 0,
    };
  }
}
