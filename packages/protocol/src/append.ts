import { create, fromBinary, protoInt64, toBinary } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { AgentClientMessageSchema } from '../gen/agent/v1/schema_pb.js';
import type { AgentClientMessage } from '../gen/agent/v1/schema_pb.js';
import { BidiAppendRequestSchema, BidiRequestIdSchema } from '../gen/aiserver/v1/bidi_pb.js';
import type { Fault } from './fault.ts';
import { fault } from './fault.ts';
import { decodeHexDigits, writeHexDigits } from './hex.ts';
import type { HexFlaw } from './hex.ts';
import { limits } from './limits.ts';

/** Which of the two payload fields an append carries (R7). */
export type AppendForm = 'hex' | 'binary' | 'both';

/** One append, read. `bytes` is the message as it was sent; it may be a view on the request body. */
export interface Append {
  requestId: string;
  seqno: bigint;
  message: AgentClientMessage;
  bytes: Uint8Array;
  form: AppendForm;
}

/** The fields of a BidiAppendRequest; `hex` still as ASCII. */
interface RawAppend {
  hex: Uint8Array;
  binary: Uint8Array;
  requestId: string;
  seqno: bigint;
}

const none = new Uint8Array(0);
const fields = {
  data: BidiAppendRequestSchema.field.data.number,
  requestId: BidiAppendRequestSchema.field.requestId.number,
  seqno: BidiAppendRequestSchema.field.appendSeqno.number,
  dataBinary: BidiAppendRequestSchema.field.dataBinary.number,
};

/**
 * Reads the body of a BidiAppend: an AgentClientMessage as hex, as bytes, or as both when they are equal (§2.1, R7, R8).
 *
 * @param options.maxBytes the largest message that is taken, after decoding
 * @throws Fault `malformed_message` or `message_too_large`, with what is wrong, where, and how to mend it
 */
export function decodeAppend(body: Uint8Array, options: { maxBytes: number }): Append {
  const raw = readFields(body);
  if (raw.requestId === '') {
    throw fault('malformed_message', 'request_id is empty. Send the id that RunSSE was opened with.');
  }
  if (raw.seqno < 0n) {
    throw fault('malformed_message', `append_seqno is ${raw.seqno}. It starts at 0 and only grows.`);
  }
  const { bytes, form } = readPayload(raw, options.maxBytes);
  return { requestId: raw.requestId, seqno: raw.seqno, message: readMessage(bytes), bytes, form };
}

/** The body of a BidiAppend. Today's clients send hex (R7), so that is the form unless another one is named. */
export function encodeAppend(append: {
  requestId: string;
  seqno: bigint | number;
  bytes: Uint8Array;
  form?: AppendForm;
}): Uint8Array {
  const form = append.form ?? 'hex';
  const { bytes } = append;
  const hexBytes = form === 'binary' ? 0 : bytes.byteLength * limits.hexFactor;
  const hexHead = new BinaryWriter();
  if (hexBytes > 0) hexHead.tag(fields.data, WireType.LengthDelimited).uint32(hexBytes);
  const middle = new BinaryWriter();
  const id = toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId: append.requestId }));
  middle.tag(fields.requestId, WireType.LengthDelimited).bytes(id);
  const seqno = BigInt(append.seqno);
  if (seqno !== 0n) middle.tag(fields.seqno, WireType.Varint).int64(seqno);
  const binary = form === 'hex' ? new Uint8Array(0) : bytes;
  if (binary.byteLength > 0) middle.tag(fields.dataBinary, WireType.LengthDelimited).uint32(binary.byteLength);
  return joinAppend(hexHead.finish(), { bytes, hexBytes }, middle.finish(), binary);
}

/**
 * One buffer of the exact size, the digits written straight into it. Building the request as an object would hold a
 * string of some ten million digits only to encode it again.
 */
function joinAppend(
  hexHead: Uint8Array,
  hex: { bytes: Uint8Array; hexBytes: number },
  middle: Uint8Array,
  binary: Uint8Array,
): Uint8Array {
  const out = new Uint8Array(hexHead.byteLength + hex.hexBytes + middle.byteLength + binary.byteLength);
  out.set(hexHead);
  if (hex.hexBytes > 0) writeHexDigits(hex.bytes, out, hexHead.byteLength);
  out.set(middle, hexHead.byteLength + hex.hexBytes);
  out.set(binary, hexHead.byteLength + hex.hexBytes + middle.byteLength);
  return out;
}

function readFields(body: Uint8Array): RawAppend {
  const raw: RawAppend = { hex: none, binary: none, requestId: '', seqno: 0n };
  try {
    const reader = new BinaryReader(body);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const sized = wireType === WireType.LengthDelimited;
      if (number === fields.data && sized) raw.hex = reader.bytes();
      else if (number === fields.dataBinary && sized) raw.binary = reader.bytes();
      else if (number === fields.requestId && sized) {
        // A message that comes twice is merged: the later id wins unless it is empty.
        raw.requestId = fromBinary(BidiRequestIdSchema, reader.bytes()).requestId || raw.requestId;
      } else if (number === fields.seqno && wireType === WireType.Varint) {
        raw.seqno = BigInt(protoInt64.parse(reader.int64()));
      } else reader.skip(wireType, number);
    }
  } catch (error) {
    throw fault(
      'malformed_message',
      `The body (${body.byteLength} bytes) is not a BidiAppendRequest: ${wordsOf(error)}.`,
      {
        cause: error,
      },
    );
  }
  return raw;
}

function readPayload(raw: RawAppend, maxBytes: number): { bytes: Uint8Array; form: AppendForm } {
  const hasHex = raw.hex.byteLength > 0;
  const hasBinary = raw.binary.byteLength > 0;
  if (!hasHex && !hasBinary) {
    throw fault('malformed_message', 'Neither data nor data_binary is set. Send the message as hex in data.');
  }
  // Before decoding: what is refused for its size should cost nothing.
  checkSize(Math.max(Math.floor(raw.hex.byteLength / 2), raw.binary.byteLength), maxBytes);
  if (!hasHex) return { bytes: raw.binary, form: 'binary' };
  const bytes = decodeHexDigits(raw.hex);
  if (!(bytes instanceof Uint8Array)) throw hexFault(bytes);
  if (!hasBinary) return { bytes, form: 'hex' };
  const at = firstDifference(bytes, raw.binary);
  if (at === undefined) return { bytes: raw.binary, form: 'both' };
  throw fault(
    'malformed_message',
    `data (${bytes.byteLength} bytes decoded) and data_binary (${raw.binary.byteLength} bytes) differ from byte ${at} on. ` +
      'Send one of them, or the same message in both.',
  );
}

function checkSize(actual: number, limit: number): void {
  if (actual <= limit) return;
  throw fault(
    'message_too_large',
    `A message of ${actual} bytes is over the limit of ${limit} bytes for one message.`,
    {
      additionalInfo: { limit_bytes: String(limit), actual_bytes: String(actual) },
    },
  );
}

function hexFault(flaw: HexFlaw): Fault {
  if (flaw.kind === 'odd-length') {
    return fault('malformed_message', `data has ${flaw.length} hex digits, an odd number. A byte is two digits.`);
  }
  const byte = `0x${flaw.byte.toString(16).padStart(2, '0')}`;
  return fault(
    'malformed_message',
    `data is not hex: byte ${byte} at position ${flaw.at}. Only 0-9, a-f and A-F may stand there; bytes go into data_binary.`,
  );
}

function readMessage(bytes: Uint8Array): AgentClientMessage {
  try {
    return fromBinary(AgentClientMessageSchema, bytes);
  } catch (error) {
    throw fault(
      'malformed_message',
      `The payload (${bytes.byteLength} bytes) is not an agent.v1.AgentClientMessage: ${wordsOf(error)}.`,
      { cause: error },
    );
  }
}

function firstDifference(a: Uint8Array, b: Uint8Array): number | undefined {
  const shared = Math.min(a.byteLength, b.byteLength);
  for (let at = 0; at < shared; at++) if (a[at] !== b[at]) return at;
  return a.byteLength === b.byteLength ? undefined : shared;
}

/** What the decoder says. It speaks of tags and offsets and never quotes content. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it cannot be decoded';
}
