import { z } from 'zod';
import { callMcp, mcpCard, mcpError } from './mcp-call.ts';
import type { McpCall } from './mcp-call.ts';
import { schemaProblem } from './mcp-schema.ts';
import { failure, withFailures } from './outcome.ts';
import type { Tool, ToolFacts } from './tool.ts';

const schema = z.object({
  server: z.string().min(1).describe('The MCP server, by its identifier.'),
  tool_name: z.string().min(1).describe('The tool of that server.'),
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Arguments of the tool, as its own schema describes them.'),
});
type CallMcpArguments = z.infer<typeof schema>;

/** A tool that the table does not know is called as the model named it: the client may know it by now (F43). */
function callOf(
  { server = '', tool_name = '', arguments: args = {} }: Partial<CallMcpArguments>,
  facts: ToolFacts,
): McpCall {
  const known = facts.mcp.find(server, tool_name);
  const { advertisedName = tool_name, toolName = tool_name, description } = known ?? {};
  const identifier = known?.server ?? facts.mcp.findServer(server)?.identifier ?? server;
  return { advertisedName, server: identifier, toolName, description, arguments: args };
}

/** Calls any MCP tool by server and name: `exec.mcp` (R60). */
export const callMcpTool: Tool<CallMcpArguments> = {
  name: 'CallMcpTool',
  aliases: ['call_mcp_tool', 'use_mcp_tool', 'CallDynamicTool'],
  argumentAliases: {
    server_name: 'server',
    server_identifier: 'server',
    namespace: 'server',
    toolName: 'tool_name',
    tool: 'tool_name',
    name: 'tool_name',
    args: 'arguments',
    input: 'arguments',
  },
  card: 'mcpToolCall',
  description:
    'Calls a tool of an MCP server. GetMcpTools lists the servers, their tools and the arguments these take.',
  schema,
  offered: facts => facts.mcp.servers.length > 0,
  open: (args, { callId, facts }) => mcpCard(callOf(args, facts), callId),
  close: (args, message, { callId, facts }) => mcpCard(callOf(args, facts), callId, mcpError(message)),
  execute(args, context) {
    return withFailures(callMcpTool, args, context, () => {
      const call = callOf(args, context.facts);
      const known = context.facts.mcp.find(args.server, args.tool_name);
      const problem = known && schemaProblem(call.arguments, known.parameters);
      if (!problem) return callMcp(call, context);
      const message = `${problem}. ${call.toolName} takes arguments of this JSON schema:\n${JSON.stringify(known.parameters)}`;
      return Promise.resolve(failure(callMcpTool.close(args, message, context), message));
    });
  },
};
