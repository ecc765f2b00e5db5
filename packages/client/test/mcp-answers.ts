/** The answers of a small MCP server, the same over every transport. Methods that it does not know get JSON-RPC's own error. */
export interface McpMessage {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
}

const PIXEL = 'iVBORw0KGgo=';
const text = (words: string) => ({ type: 'text', text: words });
const tools = ['echo', 'fail', 'picture', 'bad-picture', 'crash', 'hang', 'long', 'environment'].map(name => ({
  name,
  description: `the tool ${name}`,
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
}));

async function callTool(name: string, args: Record<string, unknown>): Promise<unknown> {
  switch (name) {
    case 'echo':
      return { content: [text(JSON.stringify(args))], structuredContent: { got: args } };
    case 'fail':
      return { content: [text('it did not work')], isError: true };
    case 'picture':
      return { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] };
    case 'bad-picture':
      return { content: [{ type: 'image', data: 'not base64!', mimeType: 'image/png' }] };
    case 'crash':
      process.exit(3);
    // fallthrough is not possible: the process is gone
    case 'hang':
      return await new Promise(() => undefined);
    case 'long':
      return { content: [text('x'.repeat(1_500_000))] };
    case 'environment':
      return { content: [text(JSON.stringify(Object.keys(process.env)))] };
    default:
      throw new Error(`no tool ${name}`);
  }
}

/** The answer to one message; undefined for a notification. */
export async function answerMcp(message: McpMessage): Promise<object | undefined> {
  const { id, method, params = {} } = message;
  if (id === undefined) return undefined;
  const base = { jsonrpc: '2.0', id };
  try {
    return { ...base, result: await resultOf(method ?? '', params) };
  } catch (error) {
    return {
      ...base,
      error: { code: method === 'resources/read' ? -32002 : -32601, message: (error as Error).message },
    };
  }
}

async function resultOf(method: string, params: Record<string, unknown>): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params['protocolVersion'],
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 'small', version: '1.0.0' },
        instructions: 'Be gentle.',
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return await callTool(params['name'] as string, (params['arguments'] ?? {}) as Record<string, unknown>);
    case 'resources/list':
      return { resources: [{ uri: 'small://one', name: 'one', mimeType: 'text/plain' }] };
    case 'resources/read':
      if (params['uri'] !== 'small://one') throw new Error('no such resource');
      return { contents: [{ uri: params['uri'], mimeType: 'text/plain', text: 'text of one' }] };
    case 'ping':
      return {};
    default:
      throw new Error(`unknown method ${method}`);
  }
}
