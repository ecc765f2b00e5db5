import { toJson } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import type { DescField, DescMessage, JsonObject, JsonValue, Message } from '@bufbuild/protobuf';

const LONG: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

/**
 * A message as protobuf JSON, with one difference: 64-bit numbers are JSON numbers where they are safe integers. A message that has
 * no JSON form (an `Any` of an unknown type) gives an empty object: an event must never fail a run.
 */
export function messageJson(schema: DescMessage, message: Message): JsonObject {
  try {
    const json = toJson(schema, message);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return { value: json };
    return shortenLongs(schema, json);
  } catch {
    return {};
  }
}

/** A 64-bit number as JSON: a number where it is safe, text else. */
export function longJson(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function shortenLongs(desc: DescMessage, json: JsonObject): JsonObject {
  // Well-known types have a JSON form of their own.
  if (desc.typeName.startsWith('google.protobuf.')) return json;
  for (const field of desc.fields) {
    const value = json[field.jsonName];
    if (value !== undefined) json[field.jsonName] = shortenField(field, value);
  }
  return json;
}

function shortenField(field: DescField, value: JsonValue): JsonValue {
  const one = (item: JsonValue): JsonValue => {
    if (field.message !== undefined) {
      return typeof item === 'object' && item !== null && !Array.isArray(item)
        ? shortenLongs(field.message, item)
        : item;
    }
    return field.scalar !== undefined && LONG.has(field.scalar) && typeof item === 'string'
      ? longJson(BigInt(item))
      : item;
  };
  if (field.fieldKind === 'list' && Array.isArray(value)) return value.map(one);
  if (field.fieldKind === 'map' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, one(item)]));
  }
  return one(value);
}
