import { z } from 'zod';
import { callMcp, mcpCard, mcpError } from './mcp-call.ts';
import type { McpCall } from './mcp-call.ts';
import { schemaProblem } from './mcp-schema.ts';
import type { FlatMcpTool, McpTable } from './mcp-table.ts';
import { withFailures } from './outcome.ts';
import type { Tool } from './tool.ts';

/** The MCP tools that the model calls by names of their own (R60, R61); none when they are too many. */
export function flatMcpTools(table: McpTable): Tool[] {
  return table.flat.map(flatMcpTool);
}

function flatMcpTool({ name, tool }: FlatMcpTool): Tool<Record<string, unknown>> {
  const callOf = (args: Record<string, unknown>): McpCall => ({
    advertisedName: tool.advertisedName,
    server: tool.server,
    toolName: tool.toolName,
    description: tool.description,
    arguments: args,
  });
  const schema = z.record(z.string(), z.unknown()).superRefine((args, context) => {
    const problem = schemaProblem(args, tool.parameters);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
  const made: Tool<Record<string, unknown>> = {
    name,
    aliases: [],
    argumentAliases: {},
    card: 'mcpToolCall',
    description: tool.description.trim() || `The tool ${tool.toolName} of the MCP server ${tool.server}.`,
    schema,
    parameters: tool.parameters,
    open: (args, { callId }) => mcpCard(callOf(args), callId),
    close: (args, message, { callId }) => mcpCard(callOf(args), callId, mcpError(message)),
    execute: (args, context) => withFailures(made, args, context, () => callMcp(callOf(args), context)),
  };
  return made;
}
