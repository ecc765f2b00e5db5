import { isAbsolute, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { REDACTED, redactText } from '../observe/secret-text.ts';
import type { Config, ProviderConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { ConfigFile, Environment } from './file.ts';
import { expandHome } from './file.ts';
import { nearestTo } from './nearest.ts';
import type { Problem } from './problem.ts';
import { writeProblems } from './problem.ts';
import type { FileConfig, ProviderEntry } from './schema.ts';
import { fileSchema, LATER_PROVIDER_TYPES, PROVIDER_TYPES } from './schema.ts';
import { Secret } from './secret.ts';
import { expandVariables } from './variables.ts';

/** What a file says; what it leaves out is undefined. */
export interface FileSettings {
  readonly listen?: FileConfig['listen'];
  readonly providers?: ProviderConfig[];
  readonly defaultModel?: string;
  readonly keys: Config['auth']['keys'];
  readonly storeFile?: string;
  readonly limits?: FileConfig['limits'];
}

/**
 * Reads a config file.
 * @throws ConfigError that lists everything that is wrong in it.
 */
export function readConfigFile(file: ConfigFile, env: Environment): FileSettings {
  const problems: Problem[] = [];
  const value = expandVariables(parseText(file), env, problems);
  const later = laterProviders(value);
  problems.push(...later);
  const read = fileSchema.safeParse(value);
  if (!read.success) {
    const isKnown = (path: readonly PropertyKey[]) =>
      problems.some(problem => problem.path.length <= path.length && problem.path.every((key, at) => key === path[at]));
    for (const issue of read.error.issues) {
      problems.push(...problemsOf(issue, value).filter(problem => !isKnown(problem.path)));
    }
  }
  if (problems.length > 0 || !read.success) throw new ConfigError(writeProblems(file.path, problems));
  return settingsOf(read.data, file, env);
}

function parseText(file: ConfigFile): unknown {
  try {
    const value: unknown = parse(file.text, { logLevel: 'error' }); // JSON is YAML too
    return value ?? {}; // an empty file says nothing
  } catch (error) {
    // Only its first line: the rest quotes the file, which may hold keys.
    const [reason = ''] = (error as Error).message.split('\n');
    throw new ConfigError(`The config ${file.path} cannot be read: ${redactText(reason).replace(/:$/, '')}.`);
  }
}

/** Provider types that come later get one sentence in place of everything else that would be said of them. */
function laterProviders(value: unknown): Problem[] {
  const providers = (value as { providers?: unknown } | null)?.providers;
  if (typeof providers !== 'object' || providers === null) return [];
  return Object.entries(providers as Record<string, { type?: unknown } | null>)
    .filter(([, provider]) => (LATER_PROVIDER_TYPES as readonly unknown[]).includes(provider?.type))
    .map(([name, provider]) => ({
      path: ['providers', name],
      says: `the type ${String(provider?.type)} comes in a later version; ${PROVIDER_TYPES.join(' and ')} work now`,
    }));
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

function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected === 'int' ? 'a whole number' : issue.expected === 'record' ? 'object' : issue.expected}`;
    case 'too_small':
      return issue.origin === 'string'
        ? 'expected some text'
        : `expected ${issue.inclusive ? '' : 'more than '}${Number(issue.minimum)}${issue.inclusive ? ' or more' : ''}`;
    case 'too_big':
      return `expected ${Number(issue.maximum)} or less`;
    case 'invalid_value':
      return `expected ${issue.values.map(String).join(' or ')}`;
    case 'invalid_union':
      return issue.path.at(-1) === 'type'
        ? `expected ${PROVIDER_TYPES.join(' or ')}`
        : 'expected a text or an object with value';
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'expected another name';
    default:
      return issue.message;
  }
}

function foundAt(value: unknown, path: readonly PropertyKey[]): string {
  let found = value;
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key];
  if (found === undefined) return 'nothing';
  if (path.includes('apiKey') || path.includes('headers')) return REDACTED;
  const text = Array.isArray(found)
    ? 'a list'
    : typeof found === 'object' && found !== null
      ? 'an object'
      : JSON.stringify(found);
  return redactText(text.length > 80 ? `${text.slice(0, 80)}…` : text);
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
    listen: data.listen,
    ...(data.providers && {
      providers: Object.entries(data.providers).map(([name, entry]) => providerOf(name, entry)),
    }),
    ...(data.defaultModel !== undefined && { defaultModel: data.defaultModel }),
    keys: (data.auth?.keys ?? []).map(key => ({ name: key.name, sha256: key.sha256.toLowerCase() })),
    ...(url !== undefined && { storeFile: storeFileOf(url, file, env) }),
    limits: data.limits,
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
  return {
    name,
    type: entry.type,
    baseUrl: entry.baseUrl.replace(/\/+$/, ''),
    ...(entry.apiKey !== undefined && { apiKey: new Secret(entry.apiKey) }),
    headers: Object.fromEntries(headers),
    models: entry.models ?? [],
  };
}
