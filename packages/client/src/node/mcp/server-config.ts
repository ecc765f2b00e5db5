import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMissing, messageOf } from '../workspace.ts';

/** How to reach one MCP server. */
export type McpServerConfig =
  | { command: string; args?: string[]; env?: Record<string, string>; cwd?: string }
  | { url: string; type?: 'http' | 'sse'; headers?: Record<string, string> };

/** A server by its name, and whether the workspace brought it along: then its program is somebody else's choice. */
export interface NamedMcpServer {
  name: string;
  config: McpServerConfig;
  fromWorkspace: boolean;
}

/** A server that cannot be used, and why. */
export interface McpServerFlaw {
  name: string;
  reason: string;
}

/** Where workspaces declare their servers; the first file that names one decides. */
const FILES = ['.mcp.json', join('.cursor', 'mcp.json')];

/** Servers taken from one workspace; more are a mistake or an attack. */
const SERVERS_CAP = 64;

/**
 * The servers of a workspace and those given beside it, which win over the former. `${NAME}` and `${env:NAME}` in texts are read from `env`. What is wrong with a
 * file or an entry is told and spoils no other.
 */
export function readMcpServers(options: {
  workspace: string;
  given: Readonly<Record<string, McpServerConfig>>;
  env: NodeJS.ProcessEnv;
}): { servers: NamedMcpServer[]; flaws: McpServerFlaw[] } {
  const servers = new Map<string, NamedMcpServer>();
  const flaws: McpServerFlaw[] = [];
  const add = (name: string, entry: unknown, fromWorkspace: boolean) => {
    if (servers.has(name) || servers.size >= SERVERS_CAP) return;
    try {
      const config = parseConfig(entry, options);
      if (config !== undefined) servers.set(name, { name, config, fromWorkspace });
    } catch (error) {
      flaws.push({ name, reason: messageOf(error) });
    }
  };
  for (const [name, config] of Object.entries(options.given)) add(name, config, false);
  for (const file of FILES) {
    try {
      for (const [name, entry] of Object.entries(readEntries(join(options.workspace, file)))) add(name, entry, true);
    } catch (error) {
      flaws.push({ name: file, reason: messageOf(error) });
    }
  }
  return { servers: [...servers.values()], flaws };
}

function readEntries(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return {};
    throw error;
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  const entries = (json as { mcpServers?: unknown } | null)?.mcpServers ?? {};
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries))
    throw new Error(`${path}: mcpServers has to be an object`);
  return entries as Record<string, unknown>;
}

/** Undefined for an entry that is switched off. */
function parseConfig(
  entry: unknown,
  { workspace, env }: { workspace: string; env: NodeJS.ProcessEnv },
): McpServerConfig | undefined {
  if (typeof entry !== 'object' || entry === null) throw new Error('the entry has to be an object');
  const { command, args, env: more, cwd, url, headers, type, disabled } = entry as Record<string, unknown>;
  if (disabled === true) return undefined;
  const fill = (text: string) => fillIn(text, env);
  if (typeof command === 'string' && command !== '') {
    return {
      command: fill(command),
      args: texts('args', args).map(fill),
      env: Object.fromEntries(Object.entries(textMap('env', more)).map(([name, value]) => [name, fill(value)])),
      cwd: typeof cwd === 'string' ? resolve(workspace, fill(cwd)) : workspace,
    };
  }
  if (typeof url !== 'string' || url === '') throw new Error('the entry needs a command or a url');
  const filled = fill(url);
  if (!URL.canParse(filled) || !/^https?:$/.test(new URL(filled).protocol))
    throw new Error('url has to be an http or https address');
  return {
    url: filled,
    ...(type === 'sse' || type === 'http' ? { type } : {}),
    headers: Object.fromEntries(
      Object.entries(textMap('headers', headers)).map(([name, value]) => [name, fill(value)]),
    ),
  };
}

function texts(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.some(item => typeof item !== 'string'))
    throw new Error(`${name} has to be a list of texts`);
  return value as string[];
}

function textMap(name: string, value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Object.values(value).some(item => typeof item !== 'string'))
    throw new Error(`${name} has to be an object of texts`);
  return value as Record<string, string>;
}

function fillIn(text: string, env: NodeJS.ProcessEnv): string {
  return text.replace(/\$\{(?:env:)?(\w+)\}/g, (_all, name: string) => {
    const value = env[name];
    if (value === undefined) throw new Error(`the variable ${name} is not set`);
    return value;
  });
}
