import { create, fromJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Tool } from '@modelcontextprotocol/client';
import { McpToolDefinitionSchema } from '@tandem/protocol/agent';
import type { McpToolDefinition } from '@tandem/protocol/agent';
import type { Permission } from '../permission.ts';
import { McpConnection, McpFailure } from './connection.ts';
import type { ConnectedMcpServer } from './connection.ts';
import { readMcpServers } from './server-config.ts';
import type { McpServerConfig, McpServerFlaw } from './server-config.ts';

/** One server as it stands: its connection when it has one, else why not. */
export interface McpServerState {
  name: string;
  status: 'connected' | 'connecting' | 'failed' | 'refused';
  server?: ConnectedMcpServer;
  reason?: string;
}

/** The MCP servers of one workspace. Their declarations are read with the first use. */
export class McpServers {
  private readonly workspace: string;
  private readonly given: Readonly<Record<string, McpServerConfig>>;
  private readonly env: NodeJS.ProcessEnv;
  private readonly permission: Permission;
  private readonly leaves = new Map<string, Promise<McpFailure | undefined>>();
  private loaded: { connections: Map<string, McpConnection>; flaws: McpServerFlaw[] } | undefined;

  constructor(options: {
    workspace: string;
    given?: Readonly<Record<string, McpServerConfig>> | undefined;
    env: NodeJS.ProcessEnv;
    permission: Permission;
  }) {
    this.workspace = options.workspace;
    this.given = options.given ?? {};
    this.env = options.env;
    this.permission = options.permission;
  }

  get names(): string[] {
    return [...this.load().connections.keys()];
  }

  /** A server that may be used; undefined when there is none of this name. Rejects with an McpFailure when it may not. */
  async find(name: string, signal: AbortSignal): Promise<McpConnection | undefined> {
    const connection = this.load().connections.get(name);
    if (connection === undefined) return undefined;
    const refusal = await this.leaveToStart(connection, signal);
    if (refusal !== undefined) throw refusal;
    return connection;
  }

  /** The server and tool that a call means: by the advertised name, which wins, else by server and tool. */
  locate(call: { name: string; server: string; tool: string }): { server: string; tool: string } {
    for (const connection of this.load().connections.values()) {
      const found = connection.known?.tools.find(tool => advertisedName(connection.name, tool.name) === call.name);
      if (found !== undefined && (call.server === '' || call.server === connection.name))
        return { server: connection.name, tool: found.name };
    }
    const prefix = `${call.server}-`;
    return {
      server: call.server,
      tool: call.tool !== '' ? call.tool : call.name.startsWith(prefix) ? call.name.slice(prefix.length) : call.name,
    };
  }

  /** Connects to all and tells how they stand after at most `waitMs`; those that need longer go on by themselves. */
  async states(waitMs: number, signal: AbortSignal): Promise<McpServerState[]> {
    const { connections, flaws } = this.load();
    const states = await Promise.all([...connections.values()].map(one => this.stateOf(one, waitMs, signal)));
    return [...states, ...flaws.map((flaw): McpServerState => ({ ...flaw, status: 'failed' }))];
  }

  async close(): Promise<void> {
    const connections = [...(this.loaded?.connections.values() ?? [])];
    await Promise.allSettled(connections.map(connection => connection.close()));
  }

  private load() {
    if (this.loaded !== undefined) return this.loaded;
    const { servers, flaws } = readMcpServers({ workspace: this.workspace, given: this.given, env: this.env });
    const connections = new Map(servers.map(server => [server.name, new McpConnection(server, this.env)]));
    this.loaded = { connections, flaws };
    return this.loaded;
  }

  private async stateOf(connection: McpConnection, waitMs: number, signal: AbortSignal): Promise<McpServerState> {
    const { name } = connection;
    const refusal = await this.leaveToStart(connection, signal);
    if (refusal !== undefined) return { name, status: 'refused', reason: refusal.message };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>(resolve => (timer = setTimeout(() => resolve(undefined), waitMs)));
    try {
      const server = await Promise.race([connection.connect(), late]);
      return server === undefined ? { name, status: 'connecting' } : { name, status: 'connected', server };
    } catch (error) {
      return { name, status: 'failed', reason: (error as McpFailure).message };
    } finally {
      clearTimeout(timer);
    }
  }

  /** A server that the workspace brings along is started only with leave, asked once. Those of the user are the user's wish. */
  private leaveToStart(connection: McpConnection, signal: AbortSignal): Promise<McpFailure | undefined> {
    const { name, fromWorkspace } = connection;
    if (!fromWorkspace) return Promise.resolve(undefined);
    let leave = this.leaves.get(name);
    if (leave === undefined) {
      leave = this.askToStart(connection, signal);
      this.leaves.set(name, leave);
      // A question that was withdrawn is asked again.
      leave.catch(() => this.leaves.delete(name));
    }
    return leave;
  }

  private async askToStart({ name, config }: McpConnection, signal: AbortSignal): Promise<McpFailure | undefined> {
    const what =
      'command' in config
        ? {
            command: [config.command, ...(config.args ?? [])].join(' '),
            workingDirectory: config.cwd ?? this.workspace,
          }
        : { url: config.url };
    const verdict = await this.permission.startMcp({ name, ...what, signal });
    return verdict.allowed ? undefined : new McpFailure(`the MCP server ${name} was not started: ${verdict.reason}`);
  }
}

/** The name under which a tool is advertised. A call brings it back, with the names it is made of beside it (R60). */
function advertisedName(server: string, tool: string): string {
  return `${server}-${tool}`;
}

/** The tools of one server as they are advertised. */
export function toolDefinitions(server: string, tools: readonly Tool[]): McpToolDefinition[] {
  return tools.map(tool =>
    create(McpToolDefinitionSchema, {
      name: advertisedName(server, tool.name),
      description: tool.description ?? tool.title ?? '',
      inputSchema: fromJson(ValueSchema, tool.inputSchema as JsonValue),
      providerIdentifier: server,
      toolName: tool.name,
      ...(tool.outputSchema === undefined ? {} : { outputSchemaJson: JSON.stringify(tool.outputSchema) }),
      ...(tool.annotations === undefined ? {} : { annotationsJson: JSON.stringify(tool.annotations) }),
    }),
  );
}
