import { isAbsolute, resolve } from 'node:path';
import type { YAMLParseError } from 'yaml';
import { z } from 'zod';
import { REDACTED, redactText } from '../observe/secret-text.ts';
import type { AwsAccess, Config, ProviderConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { ConfigFile, Environment } from './file.ts';
import { expandHome } from './file.ts';
import { nearestTo } from './nearest.ts';
import type { Problem } from './problem.ts';
import { writeProblems } from './problem.ts';
import { missingAccess } from './provider-access.ts';
import { providerTypeOf } from './provider-types.ts';
import type { FileConfig, ProviderEntry } from './schema.ts';
import { fileSchema, PROVIDER_TYPES } from './schema.ts';
import { Secret } from './secret.ts';
import { expandVariables } from './variables.ts';

/** What a file says; what it leaves out is undefined. */
export interface FileSettings {
  /** Whether it says nothing at all. */
  readonly isEmpty?: boolean;
  readonly listen?: FileConfig['listen'];
  readonly providers?: ProviderConfig[];
  readonly defaultModel?: string;
  readonly keys: Config['auth']['keys'];
  readonly storeFile?: string;
  readonly limits?: FileConfig['limits'];
  readonly routes?: FileConfig['routes'];
  readonly budget?: FileConfig['budget'];
  readonly credentials?: FileConfig['credentials'];
}

/**
 * Reads a config file.
 * @throws ConfigError that lists everything that is wrong in it.
 */
export async function readConfigFile(file: ConfigFile, env: Environment): Promise<FileSettings> {
  const problems: Problem[] = [];
  const value = expandVariables(await parseText(file), env, problems);
  const read = fileSchema.safeParse(value);
  if (!read.success) {
    const isKnown = (path: readonly PropertyKey[]) =>
      problems.some(problem => problem.path.length <= path.length && problem.path.every((key, at) => key === path[at]));
    for (const issue of read.error.issues) {
      problems.push(...problemsOf(issue, value).filter(problem => !isKnown(problem.path)));
    }
  }
  if (read.success) problems.push(...missingAccess(read.data.providers ?? {}));
  if (problems.length > 0 || !read.success) throw new ConfigError(writeProblems(file.path, problems));
  return settingsOf(read.data, file, env);
}

async function parseText(file: ConfigFile): Promise<unknown> {
  const json = parsePlainJson(file.text);
  if (json !== undefined) return json;
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(file.text, { logLevel: 'error' }); // JSON is YAML too
    return value ?? {}; // an empty file says nothing
  } catch (error) {
    throw new ConfigError(syntaxText(file, error as Error & Partial<YAMLParseError>));
  }
}

/** The value of a text that is JSON, read without the YAML parser; undefined for every other one, and where a key stands twice, which YAML refuses. */
function parsePlainJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const keys = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length;
    return value !== null && keys === countKeys(value) ? value : undefined;
  } catch {
    return undefined; // the YAML parser says what is wrong and where
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return items.reduce((sum: number, item) => sum + countKeys(item), Array.isArray(value) ? 0 : items.length);
}

/** Where a text is no YAML, why, and what to do. Only the first line of what the parser says: the rest quotes the file, which may hold keys. */
function syntaxText({ path, text }: ConfigFile, { message, linePos }: Error & Partial<YAMLParseError>): string {
  const place = linePos ? `, line ${linePos[0].line}, column ${linePos[0].col}` : '';
  const reason = redactText(message.split('\n')[0] ?? '').replace(/(?: at line \d+, column \d+)?[:.]?$/, '');
  const { line = 1, col = 1 } = linePos?.[0] ?? {};
  // inside { } and [ ] the parser stumbles over the brace of a variable
  const [, variable] =
    /^\$\{([A-Za-z_]\w*)\}/.exec(text.split('\n')[line - 1]?.slice(Math.max(0, col - 2)) ?? '') ?? [];
  if (variable !== undefined) {
    return `The config ${path}${place} cannot be read: inside { } and [ ] a variable stands in quotes. Write "\${${variable}}" there.`;
  }
  const mend = path.endsWith('.json')
    ? 'Look there and on the line before it for a missing comma, bracket or quote.'
    : 'Look there and on the line before it: indent with spaces only, the keys of one object equally deep, close every bracket and quote, and put a text with any of : # { [ & * in quotes.';
  return `The config ${path}${place} cannot be read: ${reason}. ${mend}`;
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown): Problem[] {
  const path = [...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(fileSchema, path);
    return issue.keys.map(key => {
      const [hint] = nearestTo(key, known, 1);
      const expected = known.length > 0 ? `; expected ${known.join(', ')}` : '';
      return { path: [...path, key], says: `unknown key${hint ? `, did you mean ${hint}?` : expected}` };
    });
  }
  const found = issue.code === 'invalid_key' ? JSON.stringify(path.at(-1)) : foundAt(value, path);
  const wantsQuotes = issue.code === 'invalid_type' && issue.expected === 'string' && /^(?:\d|true|false)/.test(found);
  return [{ path, says: `${expectedBy(issue)}, found ${found}${wantsQuotes ? ' without quotes' : ''}` }];
}

/** What a person calls the types of a schema. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
/** Keys whose values no error shows. */
const SECRET_KEYS = ['apiKey', 'headers', 'accessKeyId', 'secretAccessKey', 'sessionToken'];
/** The longest text that is shown whole. */
const FOUND_CHARACTERS = 80;

function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'string'
        ? 'expected some text'
        : issue.origin === 'array'
          ? `expected a list of ${Number(issue.minimum)} or more`
          : `expected ${issue.inclusive ? '' : 'more than '}${Number(issue.minimum)}${issue.inclusive ? ' or more' : ''}`;
    case 'too_big':
      return `expected ${Number(issue.maximum)} or less`;
    case 'invalid_value':
      return `expected ${issue.values.map(String).join(' or ')}`;
    case 'invalid_union':
      if (issue.path[0] === 'credentials')
        return 'expected allow, forbid, or an object with the key hosts, a list of hosts such as api.example.com';
      return issue.path.at(-1) === 'type'
        ? `expected one of ${PROVIDER_TYPES.join(', ')}`
        : 'expected a text, or an object with the key value';
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'expected another name';
    default:
      return issue.message;
  }
}

function foundAt(value: unknown, path: readonly PropertyKey[]): string {
  let found = value;
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key];
  if (found === undefined || found === null) return 'nothing';
  if (SECRET_KEYS.some(key => path.includes(key))) return REDACTED;
  const text = Array.isArray(found) ? 'a list' : typeof found === 'object' ? 'an object' : JSON.stringify(found);
  const isLong = text.length > FOUND_CHARACTERS;
  return redactText(isLong ? `${text.slice(0, FOUND_CHARACTERS)}…" (${text.length - 2} characters)` : text);
}

/** The keys that a schema knows at a path; for a choice of objects, those of all of them. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional) return keysAt(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap(option => keysAt(option, path)))];
  const [key, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    return key === undefined ? Object.keys(schema.shape) : keysAt(schema.shape[key as string], rest);
  }
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return keysAt(schema.element, rest);
  return [];
}

function settingsOf(data: FileConfig, file: ConfigFile, env: Environment): FileSettings {
  const url = data.store?.url.slice('sqlite:'.length);
  return {
    isEmpty: Object.keys(data).length === 0,
    listen: data.listen,
    ...(data.providers && {
      providers: Object.entries(data.providers).map(([name, entry]) => providerOf(name, entry)),
    }),
    ...(data.defaultModel !== undefined && { defaultModel: data.defaultModel }),
    keys: (data.auth?.keys ?? []).map(({ name, sha256, budget }) => ({
      name,
      sha256: sha256.toLowerCase(),
      ...(budget && { budget }),
    })),
    ...(url !== undefined && { storeFile: storeFileOf(url, file, env) }),
    limits: data.limits,
    routes: data.routes,
    budget: data.budget,
    credentials: data.credentials,
  };
}

function storeFileOf(path: string, file: ConfigFile, env: Environment): string {
  if (path === ':memory:') return path;
  const expanded = expandHome(path, env);
  return isAbsolute(expanded) ? expanded : resolve(file.path, '..', expanded);
}

function providerOf(name: string, entry: ProviderEntry): ProviderConfig {
  if (entry.type === 'demo') return { name, type: 'demo' };
  const headers = Object.entries(entry.headers ?? {}).map(([header, text]) => [header, new Secret(text)] as const);
  const aws = entry.type === 'bedrock' && 'region' in entry ? awsOf(entry) : undefined;
  const baseUrl = entry.baseUrl ?? (aws ? bedrockAddress(aws.region) : (providerTypeOf(entry.type).baseUrl ?? ''));
  return {
    name,
    type: entry.type,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    ...(entry.apiKey !== undefined && { apiKey: new Secret(entry.apiKey) }),
    headers: Object.fromEntries(headers),
    models: entry.models ?? [],
    ...(entry.concurrency !== undefined && { concurrency: entry.concurrency }),
    ...(aws && { aws }),
  };
}

function awsOf(entry: Extract<ProviderEntry, { region: string }>): AwsAccess {
  const { region, accessKeyId, secretAccessKey, sessionToken } = entry;
  return {
    region,
    ...(accessKeyId !== undefined && { accessKeyId: new Secret(accessKeyId) }),
    ...(secretAccessKey !== undefined && { secretAccessKey: new Secret(secretAccessKey) }),
    ...(sessionToken !== undefined && { sessionToken: new Secret(sessionToken) }),
  };
}

function bedrockAddress(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com`;
}
