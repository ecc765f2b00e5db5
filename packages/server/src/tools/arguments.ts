import { z } from 'zod';
import { ARGUMENT_DEPTH } from './limits.ts';
import type { Tool } from './tool.ts';

/** A JSON schema as far as the coercions look into it. */
interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  anyOf?: Schema[];
  [keyword: string]: unknown;
}

export type ParsedArguments =
  | { ok: true; args: Record<string, unknown> }
  /** `args` is what could be read of them, for the card; `message` is what the model reads: the error and the schema (R57). */
  | { ok: false; args: Record<string, unknown>; message: string };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemas = new WeakMap<object, Record<string, unknown>>();

/** The parameters of a tool as JSON schema, root `type: object`: its own when it brings one, else made from its zod schema. */
export function parametersOf(tool: Tool): Record<string, unknown> {
  if (tool.parameters) return tool.parameters;
  let made = schemas.get(tool.schema);
  if (!made) {
    made = withoutNoise(z.toJSONSchema(tool.schema, { io: 'input' })) as Record<string, unknown>;
    schemas.set(tool.schema, made);
  }
  return made;
}

/** Drops what says nothing to a model: the dialect, and the bounds of the integers that fit the wire. */
function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, item]) =>
      key !== '$schema' &&
      !(key === 'minimum' && item === -0x80000000) &&
      !(key === 'maximum' && item === 0x7fffffff) &&
      !(key === 'propertyNames' && isRecord(item) && item['type'] === 'string'),
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNoise(item)]));
}

/**
 * Reads the raw argument text of a call (R57): empty text is `{}`; a JSON text inside a JSON string is opened; aliases are
 * renamed; values are brought to the type the schema names where that loses nothing (F32, F34). MCP tools keep what the model
 * wrote (K11).
 */
export function parseArguments(tool: Tool, rawArgs: string): ParsedArguments {
  const read = readObject(rawArgs);
  if (!read.ok) return { ok: false, args: {}, message: refusalText(tool, read.message) };
  let args = read.value;
  if (!tool.parameters) {
    args = renameAliases(args, tool.argumentAliases, parametersOf(tool));
    args = coerce(args, parametersOf(tool)) as Record<string, unknown>;
  }
  const checked = tool.schema.safeParse(args);
  if (checked.success) return { ok: true, args: checked.data };
  return { ok: false, args: readable(tool, args), message: refusalText(tool, z.prettifyError(checked.error)) };
}

/** The arguments that are right in themselves: all that a card of a refused call may show. */
function readable(tool: Tool, args: Record<string, unknown>): Record<string, unknown> {
  if (!(tool.schema instanceof z.ZodObject)) return args;
  const shape = tool.schema.shape as Record<string, z.ZodType>;
  const right = Object.entries(args).filter(
    ([key, value]) => Object.hasOwn(shape, key) && shape[key]!.safeParse(value).success,
  );
  return Object.fromEntries(right);
}

function refusalText(tool: Tool, problem: string): string {
  const schema = JSON.stringify(parametersOf(tool));
  return `Invalid arguments for ${tool.name}; the call did not run.\n${problem}\nThe arguments must match this JSON schema:\n${schema}`;
}

type ReadObject = { ok: true; value: Record<string, unknown> } | { ok: false; message: string };

function readObject(text: string, depth = 0): ReadObject {
  if (text.trim() === '') return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, message: `The arguments are not valid JSON: ${(error as SyntaxError).message}` };
  }
  if (typeof value === 'string' && depth === 0) return readObject(value, 1);
  if (value === null) return { ok: true, value: {} };
  if (isRecord(value)) {
    if (isDeeper(value, ARGUMENT_DEPTH))
      return { ok: false, message: `The arguments are nested more than ${ARGUMENT_DEPTH} levels deep.` };
    return { ok: true, value };
  }
  return {
    ok: false,
    message: `The arguments must be a JSON object, found ${Array.isArray(value) ? 'a list' : typeof value}.`,
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(item => isDeeper(item, levels - 1));
}

/** The protocol's own name wins when both are there. */
function renameAliases(
  args: Record<string, unknown>,
  aliases: Readonly<Record<string, string>>,
  schema: Schema,
): Record<string, unknown> {
  const known = schema.properties ?? {};
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(args)) {
    const target = key in known ? key : Object.hasOwn(aliases, key) ? aliases[key]! : key;
    if (target !== key && args[target] !== undefined) continue;
    renamed[target] = value;
  }
  return renamed;
}

/** Brings a value to the schema's type where nothing is lost by it; else leaves it for the check to refuse. */
function coerce(value: unknown, schema: Schema): unknown {
  switch (schema.type) {
    case 'object':
      return coerceObject(parseIfText(value, isRecord), schema);
    case 'array':
      return coerceList(parseIfText(value, Array.isArray), schema);
    case 'integer':
    case 'number':
      return coerceNumber(value);
    case 'boolean':
      return typeof value === 'string' && /^(true|false)$/i.test(value.trim())
        ? value.trim().toLowerCase() === 'true'
        : value;
    case 'string':
      return coerceText(value, schema);
    default:
      return value;
  }
}

function parseIfText(value: unknown, wanted: (parsed: unknown) => boolean): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return wanted(parsed) ? parsed : value;
  } catch {
    return value; // a plain text; the check says what is wrong with it
  }
}

function coerceObject(value: unknown, schema: Schema): unknown {
  if (!isRecord(value) || !schema.properties) return value;
  const required = new Set(schema.required);
  const entries = Object.entries(value).filter(([key, item]) => item !== null || required.has(key));
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const property = Object.hasOwn(schema.properties!, key) ? schema.properties![key] : undefined;
      return [key, property ? coerce(item, property) : item];
    }),
  );
}

function coerceList(value: unknown, schema: Schema): unknown {
  const list = Array.isArray(value)
    ? value
    : typeof value === 'string' && schema.items?.type === 'string'
      ? [value]
      : undefined;
  return list && schema.items ? list.map(item => coerce(item, schema.items!)) : value;
}

function coerceNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(\.\d+)?\s*$/.test(value)) return value;
  return Number(value);
}

function coerceText(value: unknown, schema: Schema): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, null, 2);
  if (typeof value !== 'string' || !schema.enum || schema.enum.includes(value)) return value;
  const plain = (name: unknown) => String(name).toLowerCase().replace(/[-_ ]/g, '');
  return schema.enum.find(name => plain(name) === plain(value)) ?? value;
}
