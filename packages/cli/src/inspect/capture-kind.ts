/** What a captured body can be: an answer of RunSSE, a BidiAppend, or the request of RunSSE. */
export type CaptureKind = 'sse' | 'append' | 'request';

/** The flags of an envelope are 0 to 3 (§1.2); no protobuf message begins with such a byte. */
const LARGEST_FLAGS = 3;
/** Tags of BidiAppendRequest: data, request_id, append_seqno, data_binary (§2.1). */
const APPEND_TAGS: ReadonlySet<number> = new Set([0x0a, 0x12, 0x18, 0x22]);
const ENVELOPE_HEAD = 5;
/** The tag of the one field of BidiRequestId. */
const REQUEST_ID_TAG = 0x0a;

/** What the bytes look like; undefined when they are none of the three. */
export function detectCapture(bytes: Uint8Array): CaptureKind | undefined {
  const first = bytes[0];
  if (first === undefined) return undefined;
  if (first <= LARGEST_FLAGS) return isEnvelopedRequest(bytes) ? 'request' : 'sse';
  return APPEND_TAGS.has(first) ? 'append' : undefined;
}

/** One plain envelope whose payload is one short field of letters: an id. Inside a server message there would be tags and lengths. */
function isEnvelopedRequest(bytes: Uint8Array): boolean {
  if (bytes[0] !== 0 || bytes.byteLength < ENVELOPE_HEAD + 2) return false;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
  if (ENVELOPE_HEAD + length !== bytes.byteLength) return false;
  const [tag, size = 0, ...id] = bytes.subarray(ENVELOPE_HEAD, ENVELOPE_HEAD + 130);
  return tag === REQUEST_ID_TAG && size > 0 && size === length - 2 && id.every(byte => byte > 0x20 && byte < 0x7f);
}
