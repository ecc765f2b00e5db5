import { limits } from '@tandem/protocol';
import type { KvServerMessage } from '@tandem/protocol/agent';
import type { Frame } from './frame.ts';
import { allocateFrame, openFrame, varintBytes, writeVarint } from './frame-bytes.ts';

/** `id` of a kv message, with a varint. */
const ID = 0x08;
/** Field 4 with a length: `kv_server_message` of the root message. */
const KV = 0x22;
/** Field 3 with a length: `set_blob_args` of a kv message. */
const SET_BLOB = 0x1a;
const BLOB_ID = 0x0a;
const BLOB_DATA = 0x12;

/**
 * The frame of `set_blob`, written by hand: blobs may be as long as a prompt, and the generated code copies them four times.
 * Undefined when the message is another one or says more; the generated code has it then.
 */
export function blobFrame(kv: KvServerMessage): Frame | undefined {
  if (kv.message.case !== 'setBlobArgs' || kv.spanContext || kv.$unknown || kv.message.value.$unknown) return undefined;
  const { blobId, blobData } = kv.message.value;
  const argsBytes = fieldBytes(blobId) + fieldBytes(blobData);
  const kvBytes = (kv.id === 0 ? 0 : 1 + varintBytes(kv.id)) + 1 + varintBytes(argsBytes) + argsBytes;
  const messageBytes = 1 + varintBytes(kvBytes) + kvBytes;
  const frame = allocateFrame(limits.envelopeHeadBytes + messageBytes);
  let at = openFrame(frame, messageBytes);
  frame[at++] = KV;
  at = writeVarint(frame, at, kvBytes);
  if (kv.id !== 0) {
    frame[at++] = ID;
    at = writeVarint(frame, at, kv.id);
  }
  frame[at++] = SET_BLOB;
  at = writeVarint(frame, at, argsBytes);
  at = writeField(frame, at, BLOB_ID, blobId);
  writeField(frame, at, BLOB_DATA, blobData);
  return frame;
}

const fieldBytes = ({ length }: Uint8Array) => (length === 0 ? 0 : 1 + varintBytes(length) + length);

function writeField(frame: Uint8Array, at: number, tag: number, value: Uint8Array): number {
  if (value.length === 0) return at;
  frame[at++] = tag;
  at = writeVarint(frame, at, value.length);
  frame.set(value, at);
  return at + value.length;
}
