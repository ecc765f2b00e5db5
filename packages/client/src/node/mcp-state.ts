import { create } from '@bufbuild/protobuf';
import { McpStateExecResultSchema, McpStateServerSchema } from '@tandem/protocol/agent';
import type { McpStateServer } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { toolDefinitions } from './mcp/servers.ts';
import type { McpServerState } from './mcp/servers.ts';

/** How long the state waits for servers that are still connecting; with `kick_only` it waits for none. */
const WAIT = 20_000;

/** Tells the MCP servers with their tools, or only those that are asked for; connects to those that are not connected yet. */
export function mcpStateExecutor(machine: Machine): Executor<'mcpStateExecArgs'> {
  return {
    kind: 'mcpStateExecArgs',
    ...(machine.permission.waitsForHuman ? { deadlineMs: null } : {}),
    async run({ serverIdentifiers, kickOnly }, { signal }): Promise<ExecAnswer> {
      const states = await machine.mcp.states(kickOnly ? 0 : WAIT, signal);
      const servers = states
        .filter(({ name }) => serverIdentifiers.length === 0 || serverIdentifiers.includes(name))
        .map(describe);
      const value = create(McpStateExecResultSchema, { result: { case: 'success', value: { servers } } });
      return { case: 'mcpStateExecResult', value };
    },
  };
}

function describe({ name, status, server, reason }: McpServerState): McpStateServer {
  const instructions = server?.instructions ?? '';
  return create(McpStateServerSchema, {
    serverName: name,
    serverIdentifier: name,
    tools: toolDefinitions(name, server?.tools ?? []),
    instructions: instructions === '' ? [] : [{ serverName: name, serverIdentifier: name, instructions }],
    status,
    ...(reason === undefined ? {} : { errorMessage: reason }),
  });
}
