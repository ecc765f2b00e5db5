import type { DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import type { ReflectMessage } from '@bufbuild/protobuf/reflect';
import { blobReferences } from './blob-table.ts';
import type { BlobReference } from './blob-table.ts';
import { encodeHex } from './hex.ts';

/** A blob id is the SHA-256 of the data, raw (R39). */
export const BLOB_ID_BYTES = 32;

/** Whether bytes can be a blob id. Other lengths may be the message itself, inline (R39). */
export function isBlobId(bytes: Uint8Array): boolean {
  return bytes.byteLength === BLOB_ID_BYTES;
}

/** A blob id as a key of maps and tables: lower-case hex. */
export function blobKey(id: Uint8Array): string {
  return encodeHex(id);
}

/** One value of a reference field, as it stands there: 32 bytes are an id, others may be inline content (R39). */
export interface BlobLink {
  value: Uint8Array;
  reference: BlobReference;
}

const referenceOfField = new Map(blobReferences.map(row => [`${row.message}.${row.field}`, row]));

/**
 * The values of every reference field of a message and of the messages that lie inside it. Blobs are not followed: what
 * an id leads to is for the caller to fetch and to walk.
 */
export function* collectBlobLinks<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Generator<BlobLink> {
  yield* linksOf(reflect(schema, message));
}

/** The blob ids that a message, or a message inside it, refers to directly: values of 32 bytes alone, repeats included. */
export function* collectBlobIds<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Generator<Uint8Array> {
  for (const { value } of collectBlobLinks(schema, message)) if (isBlobId(value)) yield value;
}

function* linksOf(message: ReflectMessage): Generator<BlobLink> {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const reference = referenceOfField.get(`${field.parent.typeName}.${field.name}`);
    if (reference === undefined) {
      for (const inner of innerMessages(message, field)) yield* linksOf(inner);
      continue;
    }
    for (const value of bytesOf(message, field)) if (value.byteLength > 0) yield { value, reference };
  }
}

/** The bytes of a reference field, whether it is single, repeated or a map. */
function* bytesOf(message: ReflectMessage, field: DescField): Generator<Uint8Array> {
  if (field.fieldKind === 'list') {
    for (const value of message.get(field)) yield value as Uint8Array;
  } else if (field.fieldKind === 'map') {
    for (const value of message.get(field).values()) yield value as Uint8Array;
  } else yield message.get(field) as Uint8Array;
}

function* innerMessages(message: ReflectMessage, field: DescField): Generator<ReflectMessage> {
  if (field.message === undefined) return;
  if (field.fieldKind === 'list') {
    for (const value of message.get(field)) yield value as ReflectMessage;
  } else if (field.fieldKind === 'map') {
    for (const value of message.get(field).values()) yield value as ReflectMessage;
  } else yield message.get(field) as ReflectMessage;
}
