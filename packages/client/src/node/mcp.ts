import { create, toJson } from '@bufbuild/protobuf';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { McpResultSchema } from '@tandem/protocol/agent';
import type { McpArgs } from '@tandem/protocol/agent';
import type { ExecAnswer, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';
import { McpFailure } from './mcp/connection.ts';
import { contentOf } from './mcp/content.ts';
import { messageOf } from './workspace.ts';

type Result = NonNullable<MessageInitShape<typeof McpResultSchema>['result']>;

/**
 * Calls one tool of an MCP server (R60). Arguments keep their JSON types. What the server says about a failure is its result; a server that
 * crashes fails this call and is started anew by the next.
 */
export function mcpExecutor(machine: Machine): Executor<'mcpArgs'> {
  return {
    kind: 'mcpArgs',
    deadlineMs: null,
    close: () => machine.mcp.close(),
    async run(args, { signal }): Promise<ExecAnswer> {
      const result = await callTool(machine, args, signal);
      return { case: 'mcpResult', value: create(McpResultSchema, { result }) };
    },
  };
}

async function callTool(machine: Machine, call: McpArgs, signal: AbortSignal): Promise<Result> {
  const { mcp, permission } = machine;
  const { server, tool } = mcp.locate({
    name: call.name,
    server: call.serverIdentifier || call.providerIdentifier,
    tool: call.toolName,
  });
  const args: JsonObject = Object.fromEntries(
    Object.entries(call.args).map(([name, value]) => [name, toJson(ValueSchema, value)]),
  );
  if (permission.mode !== 'read-only' && !mcp.names.includes(server))
    return { case: 'serverNotFound', value: { name: server, availableServers: mcp.names } };
  const verdict = await permission.callMcp({ server, tool, args, signal });
  if (!verdict.allowed) {
    return { case: 'rejected', value: { reason: verdict.reason, isReadonly: verdict.readOnly } };
  }
  // Only the leave was asked for (X06).
  if (call.smartModeApprovalOnly) return { case: 'approved', value: {} };
  try {
    const connection = await mcp.find(server, signal);
    if (connection === undefined)
      return { case: 'serverNotFound', value: { name: server, availableServers: mcp.names } };
    const { tools } = await connection.connect(signal);
    if (!tools.some(one => one.name === tool))
      return { case: 'toolNotFound', value: { name: tool, availableTools: tools.map(one => one.name) } };
    const result = await connection.use(signal, (client, options) =>
      client.callTool({ name: tool, arguments: args }, options),
    );
    return { case: 'success', value: contentOf(result) };
  } catch (error) {
    signal.throwIfAborted();
    const needsAuth = error instanceof McpFailure && error.needsAuth;
    return { case: 'error', value: { error: messageOf(error), ...(needsAuth ? { needsAuth } : {}) } };
  }
}
