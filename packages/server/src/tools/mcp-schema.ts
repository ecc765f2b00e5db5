import { toJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Value } from '@bufbuild/protobuf/wkt';
import { SCHEMA_DEPTH } from './limits.ts';

type Schema = Record<string, unknown>;

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords whose value is a schema, a list of schemas, a map of schemas. */
const ONE = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']);
const LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const MAP = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that say nothing about a value and that providers refuse. */
const DROPPED = new Set(['$schema', '$id', '$comment', '$vocabulary', 'id']);

/** The schema an MCP definition carries: `input_schema_json` when it can be read, else `input_schema`, else nothing. */
export function readInputSchema(definition: {
  inputSchemaJson?: string | undefined;
  inputSchema?: Value | undefined;
}): unknown {
  if (definition.inputSchemaJson) {
    try {
      return JSON.parse(definition.inputSchemaJson);
    } catch {
      // not JSON after all: the other field is the same schema
    }
  }
  return definition.inputSchema ? valueToJson(definition.inputSchema) : undefined;
}

/** A protobuf Value as JSON; one without a kind, or with a number JSON has no word for, is nothing. */
function valueToJson(value: Value): JsonValue | undefined {
  if (value.kind.case === undefined) return undefined;
  try {
    return toJson(ValueSchema, value);
  } catch {
    return undefined; // NaN or infinity inside: no JSON schema holds one
  }
}

/**
 * A tool schema as every provider takes it (R61, P17): `type: object` with `properties` at the root, no dialect keywords, no
 * choice between schemas at the root, lists with `items`. Numbers that are whole stay whole (F44): JSON has one kind of number
 * and prints 1.0 as 1.
 */
export function normaliseSchema(schema: unknown): Schema {
  const root = isRecord(schema) ? (normalise(schema, 0) as Schema) : {};
  const properties: Schema = {};
  const required = new Set<string>();
  gather(root, properties, required, true);
  const { anyOf, oneOf, allOf, not, enum: _, const: __, if: ___, then, else: ____, ...kept } = root;
  delete kept['required'];
  const names = [...required].filter(name => Object.hasOwn(properties, name));
  return { ...kept, type: 'object', properties, ...(names.length > 0 ? { required: names } : {}) };
}

/** Joins the properties of a root and of its `allOf`, `anyOf` and `oneOf`; only `allOf` adds to what is required. */
function gather(schema: Schema, properties: Schema, required: Set<string>, binding: boolean): void {
  for (const [name, property] of Object.entries(isRecord(schema['properties']) ? schema['properties'] : {})) {
    if (!Object.hasOwn(properties, name)) properties[name] = property;
  }
  if (binding && Array.isArray(schema['required'])) {
    for (const name of schema['required']) if (typeof name === 'string') required.add(name);
  }
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    for (const branch of Array.isArray(schema[key]) ? schema[key] : []) {
      if (isRecord(branch)) gather(branch, properties, required, binding && key === 'allOf');
    }
  }
}

function normalise(schema: unknown, depth: number): unknown {
  if (!isRecord(schema)) return schema; // `true` and `false` are schemas too
  if (depth > SCHEMA_DEPTH) return {};
  const made: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || (DROPPED.has(key) && typeof value === 'string')) continue;
    if (ONE.has(key) && !Array.isArray(value)) made[key] = normalise(value, depth + 1);
    else if ((LIST.has(key) || key === 'items') && Array.isArray(value)) {
      made[key] = value.map(item => normalise(item, depth + 1));
    } else if (MAP.has(key) && isRecord(value)) {
      made[key] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, normalise(item, depth + 1)]));
    } else made[key] = value;
  }
  if (made['type'] === 'array' && made['items'] === undefined && made['prefixItems'] === undefined) made['items'] = {};
  return made;
}

/**
 * What is wrong with a value, as `path: what was expected, what was found`; undefined when nothing is. Looks at what is certain
 * in any dialect: types, required names, enums. What it does not know it lets pass: the MCP server has the last word.
 */
export function schemaProblem(value: unknown, schema: unknown, path = 'arguments', depth = 0): string | undefined {
  if (!isRecord(schema) || depth > SCHEMA_DEPTH) return undefined;
  const types = [schema['type'] as unknown].flat().filter((type): type is string => typeof type === 'string');
  if (types.length > 0 && !types.some(type => hasType(value, type))) {
    return `${path}: expected ${types.join(' or ')}, found ${nameOfType(value)}`;
  }
  const allowed: unknown[] = Array.isArray(schema['enum']) ? schema['enum'] : [];
  if (allowed.length > 0 && allowed.every(item => typeof item === 'string') && !allowed.some(item => item === value)) {
    return `${path}: expected one of ${allowed.map(item => JSON.stringify(item)).join(', ')}, found ${JSON.stringify(value)}`;
  }
  if (Array.isArray(value)) {
    if (Array.isArray(schema['items'])) return undefined;
    return firstOf(value, (item, at) => schemaProblem(item, schema['items'], `${path}[${at}]`, depth + 1));
  }
  if (!isRecord(value)) return undefined;
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const missing = required.find((name): name is string => typeof name === 'string' && !Object.hasOwn(value, name));
  if (missing !== undefined) return `${path}: "${missing}" is missing`;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  return firstOf(Object.keys(properties), name =>
    Object.hasOwn(value, name) ? schemaProblem(value[name], properties[name], `${path}.${name}`, depth + 1) : undefined,
  );
}

function firstOf<Item>(
  items: readonly Item[],
  look: (item: Item, at: number) => string | undefined,
): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = look(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number' || type === 'string' || type === 'boolean') return typeof value === type;
  if (type === 'object' || type === 'array' || type === 'null') return nameOfType(value) === type;
  return true;
}
