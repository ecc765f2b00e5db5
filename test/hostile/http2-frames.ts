/** HTTP/2 as bytes, for what no honest library sends. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, continuation: 9 } as const;
export const END_HEADERS = 4;

export function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The head of a POST, no field of it compressed (RFC 7541: literals without indexing under names of the static table). */
export function headerBlock(path: string, type: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat([
    Buffer.of(0x83, 0x86), // :method POST, :scheme http
    Buffer.of(0x04),
    text(path),
    Buffer.of(0x01),
    text('127.0.0.1'),
    Buffer.of(0x0f, 0x10),
    text(type),
    Buffer.of(0x0f, 0x08),
    text('Bearer test-token'),
  ]);
}

/** The frames of what came over a raw socket, as far as they are whole. */
export function readFrames(received: string): { type: number; flags: number; stream: number; payload: Buffer }[] {
  const bytes = Buffer.from(received, 'latin1');
  const frames = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const length = bytes.readUIntBE(at, 3);
    if (at + 9 + length > bytes.length) break;
    const payload = bytes.subarray(at + 9, at + 9 + length);
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
      payload,
    });
    at += 9 + length;
  }
  return frames;
}
