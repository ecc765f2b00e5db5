import type { McpDescriptor, McpInstructions, McpToolDefinition, RequestContext } from '@tandem/protocol/agent';
import { FLAT_MCP_CHARACTERS, FLAT_MCP_TOOLS } from './limits.ts';
import { chooseFlatNames } from './mcp-name.ts';
import { normaliseSchema, readInputSchema } from './mcp-schema.ts';

/** One MCP tool, with the names a call of it must carry (R60). */
export interface McpTool {
  /** `name` as the client advertised it. */
  readonly advertisedName: string;
  /** The server, by its identifier: two servers may have one display name (F46). */
  readonly server: string;
  readonly toolName: string;
  readonly description: string;
  /** JSON schema, `type: object` at its root (R61). */
  readonly parameters: Record<string, unknown>;
}

export interface McpServer {
  readonly identifier: string;
  /** What a person calls it; the identifier when the client gave no name. */
  readonly name: string;
  readonly instructions: string;
  readonly tools: readonly McpTool[];
}

export interface FlatMcpTool {
  /** The name the model calls it by, unique and fit for every provider (R61). */
  readonly name: string;
  readonly tool: McpTool;
}

/** What MCP servers and tools a run knows. `learn` adds what a later answer of the client says; flat tools never change. */
export interface McpTable {
  readonly servers: readonly McpServer[];
  /** The tools offered under names of their own: all there are, or none when they are too many. */
  readonly flat: readonly FlatMcpTool[];
  /** A server by identifier, else by a name that only one has. */
  findServer(server: string): McpServer | undefined;
  /** A tool by server and by tool name or advertised name. */
  find(server: string, toolName: string): McpTool | undefined;
  learn(
    definitions: readonly McpToolDefinition[],
    server?: { identifier: string; name: string; instructions: string },
  ): void;
}

interface Entry {
  identifier: string;
  name: string;
  instructions: string;
  tools: Map<string, McpTool>;
}

/**
 * Merges the carriers of MCP tools (R60): definitions that came with the run, with the action's context, with the context the
 * client answered. The first of two with one server and one tool name stays. Server names, instructions and tools that only
 * descriptors tell of come from the context.
 */
export function buildMcpTable(carriers: readonly (readonly McpToolDefinition[])[], context?: RequestContext): McpTable {
  const entries = new Map<string, Entry>();
  for (const definitions of carriers) addDefinitions(entries, definitions);
  if (context) {
    addDefinitions(entries, context.tools);
    for (const descriptor of descriptorsOf(context)) addDescriptor(entries, descriptor);
    for (const instructions of context.mcpInstructions) addInstructions(entries, instructions);
  }
  return createTable(entries);
}

function descriptorsOf(context: RequestContext): McpDescriptor[] {
  return [
    ...(context.mcpMetaToolOptions?.mcpDescriptors ?? []),
    ...(context.mcpFileSystemOptions?.mcpDescriptors ?? []),
  ];
}

function createTable(entries: Map<string, Entry>): McpTable {
  const flat = chooseFlat([...entries.values()].flatMap(entry => [...entry.tools.values()]));
  const serverOf = (entry: Entry): McpServer => ({ ...entry, tools: [...entry.tools.values()] });
  const findEntry = (server: string): Entry | undefined => {
    const exact = entries.get(server);
    if (exact) return exact;
    const named = [...entries.values()].filter(
      entry => sameName(entry.name, server) || sameName(entry.identifier, server),
    );
    return named.length === 1 ? named[0] : undefined;
  };
  return {
    get servers() {
      return [...entries.values()].map(serverOf);
    },
    flat,
    findServer(server) {
      const entry = findEntry(server);
      return entry && serverOf(entry);
    },
    find(server, toolName) {
      const tools = findEntry(server)?.tools;
      return tools?.get(toolName) ?? [...(tools?.values() ?? [])].find(tool => tool.advertisedName === toolName);
    },
    learn(definitions, server) {
      if (server) {
        const entry = entryOf(entries, server.identifier);
        if (server.name) entry.name = server.name;
        if (server.instructions) entry.instructions = server.instructions;
      }
      addDefinitions(entries, definitions, server?.identifier);
    },
  };
}

/** Some clients' definitions name their provider by the server's display name; those and the descriptor are one server. */
function knownIdentifier(entries: Map<string, Entry>, identifier: string, name: string): string {
  if (entries.has(identifier)) return identifier;
  return entries.has(name) ? name : identifier || name;
}

const sameName = (left: string, right: string) => left.toLowerCase() === right.toLowerCase();

function entryOf(entries: Map<string, Entry>, identifier: string): Entry {
  let entry = entries.get(identifier);
  if (!entry) {
    entry = { identifier, name: identifier, instructions: '', tools: new Map() };
    entries.set(identifier, entry);
  }
  return entry;
}

function addDefinitions(entries: Map<string, Entry>, definitions: readonly McpToolDefinition[], server?: string): void {
  for (const definition of definitions) {
    const toolName = definition.toolName || definition.name;
    if (toolName === '') continue;
    addTool(entries, {
      advertisedName: definition.name || toolName,
      server: definition.providerIdentifier || server || '',
      toolName,
      description: definition.description,
      parameters: normaliseSchema(readInputSchema(definition)),
    });
  }
}

function addTool(entries: Map<string, Entry>, tool: McpTool): void {
  const { tools } = entryOf(entries, tool.server);
  if (!tools.has(tool.toolName)) tools.set(tool.toolName, tool);
}

function addDescriptor(entries: Map<string, Entry>, descriptor: McpDescriptor): void {
  const identifier = knownIdentifier(entries, descriptor.serverIdentifier, descriptor.serverName);
  if (identifier === '') return;
  const entry = entryOf(entries, identifier);
  if (descriptor.serverName) entry.name = descriptor.serverName;
  entry.instructions ||= descriptor.serverUseInstructions ?? '';
  for (const tool of descriptor.tools) {
    if (tool.toolName === '') continue;
    addTool(entries, {
      advertisedName: `${identifier}-${tool.toolName}`, // as clients name the definitions they send
      server: identifier,
      toolName: tool.toolName,
      description: tool.description ?? '',
      parameters: normaliseSchema(readInputSchema(tool)),
    });
  }
}

function addInstructions(
  entries: Map<string, Entry>,
  { serverIdentifier, serverName, instructions }: McpInstructions,
): void {
  const identifier = knownIdentifier(entries, serverIdentifier, serverName);
  if (identifier === '') return;
  const entry = entryOf(entries, identifier);
  if (serverName) entry.name = serverName;
  entry.instructions ||= instructions;
}

/** All or none: half a list would make the model believe that it is the whole. */
function chooseFlat(tools: readonly McpTool[]): FlatMcpTool[] {
  if (tools.length > FLAT_MCP_TOOLS) return [];
  const characters = tools.reduce(
    (sum, tool) => sum + tool.description.length + JSON.stringify(tool.parameters).length,
    0,
  );
  if (characters > FLAT_MCP_CHARACTERS) return [];
  const names = chooseFlatNames(tools);
  return tools.map((tool, at) => ({ name: names[at]!, tool }));
}
