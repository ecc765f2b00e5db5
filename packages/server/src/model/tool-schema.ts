import type { Quirks } from './quirks.ts';
import { isRecord } from './wires/event-json.ts';
import { wellFormed } from './well-formed.ts';

type Schema = Record<string, unknown>;

/** A tool's schema as a provider takes it: an object at its root, with properties (P17), in the part of JSON schema it knows (R61). */
export function toolSchema(parameters: Schema, part: Quirks['schema']): Schema {
  const root = parameters['type'] === 'object' ? parameters : { ...parameters, type: 'object' };
  const whole = wellFormed(root['properties'] === undefined ? { ...root, properties: {} } : root);
  return part === 'json' ? whole : openApiSchema(whole, definitionsOf(whole), 0);
}

/** What OpenAPI 3.0 has of JSON schema, as Gemini takes it. */
const OPENAPI_KEYS = new Set([
  'type', 'title', 'description', 'nullable', 'enum', 'format', 'required', 'properties', 'items', 'anyOf',
  'minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'pattern',
]); // prettier-ignore
const STRING_FORMATS = new Set(['enum', 'date-time']);
const NUMBER_FORMATS = new Set(['float', 'double', 'int32', 'int64']);
/** A schema that refers to itself is cut here; the arguments below are then free. */
const DEEPEST = 24;

function definitionsOf(root: Schema): Schema {
  const [older, newer] = [root['definitions'], root['$defs']];
  return { ...(isRecord(older) && older), ...(isRecord(newer) && newer) };
}

function openApiSchema(schema: Schema, definitions: Schema, depth: number): Schema {
  if (depth > DEEPEST) return { type: 'object' };
  const inner = (value: unknown): Schema => (isRecord(value) ? openApiSchema(value, definitions, depth + 1) : {});
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const { $ref: _, ...rest } = schema;
    const named = definitions[reference.slice(reference.lastIndexOf('/') + 1)];
    return inner({ ...(isRecord(named) ? named : { type: 'object' }), ...rest });
  }
  const read: Schema = {};
  for (const [key, value] of Object.entries(spelled(schema))) {
    if (!OPENAPI_KEYS.has(key)) continue;
    if (key === 'properties' && isRecord(value)) {
      read[key] = Object.fromEntries(Object.entries(value).map(([name, property]) => [name, inner(property)]));
    } else if (key === 'items') read[key] = inner(value);
    else if (key === 'anyOf' && Array.isArray(value)) read[key] = value.map(inner);
    else read[key] = value;
  }
  if (read['type'] === 'array' && read['items'] === undefined) read['items'] = { type: 'string' };
  if (Array.isArray(read['enum'])) {
    const values = (read['enum'] as unknown[]).filter(value => value !== null);
    // only texts may be listed; of other values the type alone is left
    if (values.every(value => typeof value === 'string')) Object.assign(read, { type: 'string', enum: values });
    else {
      read['type'] ??= typeof values[0];
      delete read['enum'];
    }
  }
  const formats = read['type'] === 'string' ? STRING_FORMATS : NUMBER_FORMATS;
  if (!formats.has(String(read['format']))) delete read['format'];
  const known = isRecord(read['properties']) ? read['properties'] : {};
  if (Array.isArray(read['required'])) {
    read['required'] = (read['required'] as unknown[]).filter(name => typeof name === 'string' && name in known);
    if ((read['required'] as unknown[]).length === 0) delete read['required'];
  }
  return read;
}

/** The spellings of JSON schema that OpenAPI writes otherwise: lists of types, constants, alternatives. */
function spelled(schema: Schema): Schema {
  const { type, const: constant, oneOf, allOf, ...rest } = schema;
  const read: Schema = { ...rest };
  if (Array.isArray(allOf)) for (const part of allOf as unknown[]) if (isRecord(part)) Object.assign(read, part);
  if (Array.isArray(oneOf) && read['anyOf'] === undefined) read['anyOf'] = oneOf;
  if (constant !== undefined) read['enum'] = [constant];
  if (Array.isArray(type)) {
    const types = (type as unknown[]).filter(name => name !== 'null');
    if (types.length < type.length) read['nullable'] = true;
    if (types.length === 1) read['type'] = types[0];
    else read['anyOf'] ??= types.map(name => ({ type: name }));
  } else if (type !== undefined) read['type'] = type;
  if (Array.isArray(read['anyOf'])) {
    const members = read['anyOf'] as unknown[];
    const others = members.filter(member => !(isRecord(member) && member['type'] === 'null'));
    if (others.length < members.length) read['nullable'] = true;
    if (others.length > 1) read['anyOf'] = others;
    else {
      delete read['anyOf'];
      if (isRecord(others[0])) Object.assign(read, others[0]);
    }
  }
  return read;
}
