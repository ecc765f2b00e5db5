import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { GetMcpToolsToolCallSchema } from '@tandem/protocol/agent';
import type { McpStateServer, GetMcpToolsAgentResultSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { excerptOf } from './excerpt.ts';
import { RESULT_CHARACTERS } from './limits.ts';
import type { McpServer, McpTable, McpTool } from './mcp-table.ts';
import { success, withFailures } from './outcome.ts';
import { matchPattern } from './pattern.ts';
import { ExecFailure } from './tool.ts';
import type { Card, Tool, ToolContext } from './tool.ts';

const schema = z.object({
  server: z.string().optional().describe('Only this server, by its identifier or name.'),
  tool_name: z.string().optional().describe('Only the tool of this name; its arguments are described in full.'),
  pattern: z
    .string()
    .optional()
    .describe('Only tools whose name or description matches this regular expression; case is ignored.'),
});
type GetMcpToolsArguments = z.infer<typeof schema>;

function getMcpToolsCard(
  { server, tool_name, pattern }: Partial<GetMcpToolsArguments>,
  callId: string,
  result?: MessageInitShape<typeof GetMcpToolsAgentResultSchema>['result'],
): Card {
  return {
    case: 'getMcpToolsToolCall',
    value: create(GetMcpToolsToolCallSchema, {
      args: { server, toolName: tool_name, pattern, toolCallId: callId },
      ...(result ? { result: { result } } : {}),
    }),
  };
}

/** Lists MCP servers and tools: `exec.mcpState`, and what the run already knows when the client cannot say (R60). */
export const getMcpToolsTool: Tool<GetMcpToolsArguments> = {
  name: 'GetMcpTools',
  aliases: ['get_mcp_tools', 'list_mcp_tools', 'ListMcpTools'],
  argumentAliases: {
    server_name: 'server',
    server_identifier: 'server',
    toolName: 'tool_name',
    tool: 'tool_name',
    query: 'pattern',
  },
  card: 'getMcpToolsToolCall',
  description:
    'Lists the MCP servers of the user with their tools. Arguments of the tools are described when a server, a tool or a pattern is named.',
  schema,
  offered: facts => facts.mcp.servers.length > 0,
  open: (args, { callId }) => getMcpToolsCard(args, callId),
  close: (args, message, { callId }) => getMcpToolsCard(args, callId, { case: 'error', value: { error: message } }),
  execute(args, context) {
    return withFailures(getMcpToolsTool, args, context, async () => {
      const states = await askState(args, context);
      const content = describe(args, context.facts.mcp, states);
      return success(getMcpToolsCard(args, context.callId, { case: 'success', value: { content } }), content);
    });
  },
};

/** What the client says of its servers now, learnt by the run; nothing when it cannot say. */
async function askState(args: GetMcpToolsArguments, { exec, facts: { mcp } }: ToolContext): Promise<McpStateServer[]> {
  const identifier = args.server && (mcp.findServer(args.server)?.identifier ?? args.server);
  try {
    const { result } = await exec.mcpState({ serverIdentifiers: identifier ? [identifier] : [] });
    if (result.case !== 'success') return [];
    for (const server of result.value.servers) {
      const instructions = server.instructions.map(one => one.instructions).join('\n');
      mcp.learn(server.tools, {
        identifier: server.serverIdentifier || server.serverName,
        name: server.serverName,
        instructions,
      });
    }
    return result.value.servers;
  } catch (error) {
    if (!(error instanceof ExecFailure) || error.reason === 'aborted') throw error;
    return []; // a client that has no such exec: the table holds what came with the run
  }
}

function describe(args: GetMcpToolsArguments, mcp: McpTable, states: McpStateServer[]): string {
  const named = args.server === undefined || args.server === '' ? undefined : mcp.findServer(args.server);
  const servers = args.server ? (named ? [named] : []) : mcp.servers;
  const all = mcp.servers.map(server => server.identifier).join(', ');
  if (servers.length === 0)
    return args.server
      ? `There is no MCP server ${args.server}. There are: ${all || 'none'}.`
      : 'There are no MCP servers.';
  const inFull = Boolean(args.server || args.tool_name || args.pattern);
  const chosen = servers.map(server => ({ server, tools: chooseTools(server, args) }));
  const filtered = Boolean(args.tool_name || args.pattern);
  const shown = filtered ? chosen.filter(({ tools }) => tools.length > 0) : chosen;
  if (shown.length === 0) return `No MCP tool fits. Servers: ${all}.`;
  const blocks = shown.map(({ server, tools }) => {
    const state = states.find(one => (one.serverIdentifier || one.serverName) === server.identifier);
    return describeServer(server, tools, inFull, state);
  });
  return excerptOf(blocks.join('\n\n'), RESULT_CHARACTERS);
}

function chooseTools(server: McpServer, { tool_name, pattern }: GetMcpToolsArguments): readonly McpTool[] {
  const tools = server.tools.filter(
    tool => !tool_name || tool.toolName === tool_name || tool.advertisedName === tool_name,
  );
  if (!pattern) return tools;
  const matches = matchPattern(
    pattern,
    tools.map(tool => `${tool.toolName} ${tool.description}`),
    'i',
  );
  return tools.filter((_tool, at) => matches[at] !== undefined);
}

function describeServer(server: McpServer, tools: readonly McpTool[], inFull: boolean, state?: McpStateServer): string {
  const name = server.name === server.identifier ? '' : ` (${server.name})`;
  const status = [state?.status, state?.errorMessage].filter(Boolean).join(': ');
  const lines = [`Server ${server.identifier}${name}${status ? `, ${status}` : ''}`];
  if (server.instructions) lines.push(excerptOf(server.instructions, RESULT_CHARACTERS / 8));
  if (tools.length === 0) lines.push('  no tools');
  for (const tool of tools) {
    const description = inFull ? tool.description : (tool.description.split('\n')[0] ?? '');
    lines.push(`- ${tool.toolName}${description ? `: ${description}` : ''}`);
    if (inFull) lines.push(`  arguments: ${JSON.stringify(tool.parameters)}`);
  }
  return lines.join('\n');
}
