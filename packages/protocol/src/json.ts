import type {
  DescEnum,
  DescField,
  DescMessage,
  JsonObject,
  JsonValue,
  Message,
  MessageShape,
} from '@bufbuild/protobuf';
import { isFieldSet } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import type { Value } from '@bufbuild/protobuf/wkt';
import { limits } from './limits.ts';
import { REDACTED, isSecretField, scrubText } from './scrub.ts';

/** How a message is shown. */
export interface WireJsonOptions {
  /** Show `bytes` whole. Default: base64 is cut, and the size stands behind it. */
  full?: boolean;
}

/**
 * A message as a person reads it, in the shape of the reference's example (§1.2): names of the schema, the branch that is
 * set in place of its oneof, nothing that is not set, enums by name, 64-bit numbers as numbers where those are exact.
 * Credentials are `[redacted]`. Fields that the schema does not know are listed by number under `$unknown`.
 *
 * This is for eyes and logs and cannot be read back: use `toBinary` or `toJson` for that. Never throws.
 */
export function toWireJson<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  options: WireJsonOptions = {},
): JsonValue {
  return messageToJson(schema, message, options);
}

function messageToJson(schema: DescMessage, message: Message, options: WireJsonOptions): JsonValue {
  if (schema.typeName === 'google.protobuf.Value') return valueToJson(message as Value);
  if (schema.typeName === 'google.protobuf.Timestamp') return timestampToJson(message as Message & Seconds);
  const entries: [string, JsonValue][] = [];
  for (const field of schema.fields) {
    if (!isFieldSet(message, field)) continue;
    entries.push([
      field.name,
      fieldToJson(field, readField(field, message as Message & Record<string, unknown>), options),
    ]);
  }
  const unknown = new Set(message.$unknown?.map(field => field.no));
  if (unknown.size > 0) entries.push(['$unknown', [...unknown]]);
  return Object.fromEntries(entries);
}

/** The members of a oneof live in an object of their own, `{ case, value }`; all other fields in the message. */
function readField(field: DescField, message: Record<string, unknown>): unknown {
  if (field.oneof === undefined) return message[field.localName];
  return (message[field.oneof.localName] as { value: unknown }).value;
}

function fieldToJson(field: DescField, value: unknown, options: WireJsonOptions): JsonValue {
  if (field.fieldKind === 'list') return (value as unknown[]).map(item => itemToJson(field, item, options));
  if (field.fieldKind === 'map') {
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.map(([key, item]) => [key, itemToJson(field, item, options)]));
  }
  return itemToJson(field, value, options);
}

function itemToJson(field: DescField, item: unknown, options: WireJsonOptions): JsonValue {
  // A Struct is a plain object already when it stands in a field.
  if (field.message?.typeName === 'google.protobuf.Struct') return item as JsonObject;
  if (field.message !== undefined) return messageToJson(field.message, item as Message, options);
  if (isSecretField(field) && item !== '') return REDACTED;
  if (field.enum !== undefined) return enumToJson(field.enum, item as number);
  if (item instanceof Uint8Array) return bytesToJson(item, options);
  if (typeof item === 'string') return scrubText(field, item);
  return scalarToJson(item);
}

function enumToJson(schema: DescEnum, number: number): JsonValue {
  return schema.value[number]?.name ?? number;
}

/** 48 bytes are the 64 characters that are shown; more is not even encoded. */
function bytesToJson(bytes: Uint8Array, options: WireJsonOptions): string {
  const shown = (limits.shownBase64Characters / 4) * 3;
  if (options.full === true || bytes.byteLength <= shown) return base64Encode(bytes);
  return `${base64Encode(bytes.subarray(0, shown))}… (${bytes.byteLength} bytes)`;
}

function scalarToJson(scalar: unknown): JsonValue {
  if (typeof scalar === 'bigint') {
    const number = Number(scalar);
    return Number.isSafeInteger(number) ? number : scalar.toString();
  }
  // JSON has no word for these.
  if (typeof scalar === 'number' && !Number.isFinite(scalar)) return String(scalar);
  return scalar as JsonValue;
}

interface Seconds {
  seconds: bigint;
  nanos: number;
}

function timestampToJson({ seconds, nanos }: Seconds): JsonValue {
  const date = new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));
  // Beyond the years that a Date knows the number has to do.
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString();
}

/** Unlike `toJson`, a Value without a kind is null here, and what JSON cannot say becomes text. */
function valueToJson({ kind }: Value): JsonValue {
  switch (kind.case) {
    case 'structValue':
      return Object.fromEntries(Object.entries(kind.value.fields).map(([name, value]) => [name, valueToJson(value)]));
    case 'listValue':
      return kind.value.values.map(valueToJson);
    case 'numberValue':
      return scalarToJson(kind.value);
    case 'stringValue':
    case 'boolValue':
      return kind.value;
    case 'nullValue':
    case undefined:
      return null;
  }
}
