import type { Requirement } from './requirement.ts';

/** What the model is offered and how its calls are routed (R60–R63, tools of the first breadth). */
export const tools = [
  {
    id: 'R60-run-request-carrier',
    source: 'R60',
    covers: 'server',
    says: 'An MCP tool that came in run_request.mcp_tools can be called.',
  },
  {
    id: 'R60-action-carrier',
    source: 'R60',
    covers: 'server',
    says: "An MCP tool that came in the action's request_context can be called.",
  },
  {
    id: 'R60-context-result-carrier',
    source: 'R60',
    covers: 'server',
    says: 'An MCP tool that came in request_context_result can be called, and one in several carriers is offered once.',
  },
  {
    id: 'R60-advertised-names',
    source: 'R60',
    covers: 'server',
    says: 'mcp_args calls back with exactly the advertised name, tool_name and provider identifier.',
  },
  {
    id: 'R61-valid-unique-names',
    source: 'R61',
    covers: 'server',
    says: 'Names sent to a provider match [A-Za-z0-9_-]{1,64}, are unique, and a cut one still reaches the right tool.',
  },
  {
    id: 'R61-schemas-normalised',
    source: 'R61',
    covers: 'server',
    says: 'A schema without type becomes an object and its integers stay integers.',
  },
  {
    id: 'R62-unknown-tool-named',
    source: 'R62',
    covers: 'server',
    says: 'A call to a tool that was not offered is a tool error with the valid names and sends no exec.',
  },
  {
    id: 'R62-aliases',
    source: 'R62',
    covers: 'server',
    says: 'Aliases of tools and parameters, and numbers written as strings or with .0, are accepted.',
  },
  {
    id: 'R63-only-what-works',
    source: 'R63',
    covers: 'server',
    says: 'A tool whose backend, mode or client ability is missing is not offered.',
  },
  {
    id: 'product-str-replace-unique',
    source: 'product',
    covers: 'server',
    says: 'StrReplace refuses an old_string that is not unique unless replace_all is set.',
  },
  {
    id: 'product-parallel-round',
    source: 'product',
    covers: 'server',
    says: 'The tool calls of one model answer run at the same time.',
  },
  {
    id: 'product-get-mcp-tools',
    source: 'product',
    covers: 'server',
    says: "GetMcpTools lists the client's MCP tools, filtered by server and pattern.",
  },
  {
    id: 'K11-argument-types',
    source: 'K11',
    covers: 'server',
    says: 'CallMcpTool keeps "00123" a string and 3 an integer.',
  },
  {
    id: 'P09-same-index',
    source: 'P09',
    covers: 'server',
    says: 'Parallel calls under one provider index are two calls, and interleaved deltas each give valid JSON.',
  },
  {
    id: 'P22-well-formed-strings',
    source: 'P22',
    covers: 'server',
    says: 'A lone surrogate in tool output reaches the provider as U+FFFD in valid JSON.',
  },
  {
    id: 'P24-text-only-model',
    source: 'P24',
    covers: 'server',
    says: 'An image for a model without vision becomes a note that asks the model to tell the user.',
  },
] as const satisfies readonly Requirement[];
