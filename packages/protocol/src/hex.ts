/** Value of each ASCII digit; 0xff where there is none. */
const values = new Uint8Array(256).fill(0xff);
/** The two digits of each byte, low half first digit, high half second, so that one lookup gives both. */
const pairs = new Uint16Array(256);
const digits = '0123456789abcdef';
for (let value = 0; value < 16; value++) {
  values[digits.charCodeAt(value)] = value;
  values[digits.toUpperCase().charCodeAt(value)] = value;
}
for (let byte = 0; byte < 256; byte++) {
  pairs[byte] = digits.charCodeAt(byte >> 4) | (digits.charCodeAt(byte & 15) << 8);
}

/** Engines that know hex are some times faster than a table; older ones have none of the two. */
const nativeToHex: ((this: Uint8Array) => string) | undefined = Uint8Array.prototype.toHex;
const nativeFromHex: ((digits: string) => Uint8Array) | undefined = Uint8Array.fromHex;

/** Where a text stops being hex. `at` counts digits from 0. */
export type HexFlaw = { kind: 'odd-length'; length: number } | { kind: 'bad-digit'; at: number; byte: number };

/** Writes bytes as lower-case ASCII digits into a buffer that has room for them from `to` on. */
export function writeHexDigits(bytes: Uint8Array, out: Uint8Array, to = 0): void {
  for (let from = 0; from < bytes.length; from++) {
    const pair = pairs[bytes[from] as number] as number;
    out[to++] = pair & 0xff;
    out[to++] = pair >> 8;
  }
}

/** Bytes as a string of lower-case digits. */
export function encodeHex(bytes: Uint8Array): string {
  if (nativeToHex !== undefined) return nativeToHex.call(bytes);
  const ascii = new Uint8Array(bytes.length * 2);
  writeHexDigits(bytes, ascii);
  return new TextDecoder('latin1').decode(ascii);
}

/** From here up a runtime's own reader pays for its call. */
const NATIVE_DIGITS = 1024;
/** Digits read in one go, so that no string of millions of them is made. */
const PIECE_DIGITS = 64 * 1024;

/** ASCII digits of any case as bytes, strictly; or where they are none. */
export function decodeHexDigits(text: Uint8Array): Uint8Array | HexFlaw {
  if (text.length % 2 !== 0) return { kind: 'odd-length', length: text.length };
  const out = new Uint8Array(text.length / 2);
  const read = text.length >= NATIVE_DIGITS ? readNatively(text, out) : 0;
  for (let from = read * 2, to = read; to < out.length; to++) {
    const high = values[text[from++] as number] as number;
    const low = values[text[from++] as number] as number;
    if ((high | low) > 15) {
      const at = high > 15 ? from - 2 : from - 1;
      return { kind: 'bad-digit', at, byte: text[at] as number };
    }
    out[to] = (high << 4) | low;
  }
  return out;
}

/** Reads with Node's Buffer, some times faster than a table, where there is one; gives the bytes up to the first flaw. */
function readNatively(text: Uint8Array, out: Uint8Array): number {
  const { Buffer } = globalThis as { Buffer?: BufferConstructor };
  if (Buffer === undefined) return 0;
  const digits = Buffer.from(text.buffer, text.byteOffset, text.length);
  const bytes = Buffer.from(out.buffer);
  let read = 0;
  while (read < out.length) {
    const piece = digits.toString('latin1', read * 2, Math.min(read * 2 + PIECE_DIGITS, digits.length));
    const written = bytes.write(piece, read, 'hex');
    read += written;
    if (written < piece.length / 2) break;
  }
  return read;
}

/** A string of digits of any case as bytes, strictly; or where they are none. */
export function decodeHex(text: string): Uint8Array | HexFlaw {
  if (nativeFromHex !== undefined) {
    try {
      return nativeFromHex(text);
    } catch {
      // The table below says where the flaw is, which the engine does not.
    }
  }
  return decodeHexDigits(new TextEncoder().encode(text));
}
