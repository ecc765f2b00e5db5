import { create, fromJson, toJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Value } from '@bufbuild/protobuf/wkt';
import { McpToolDefinitionSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { openCard, runTool, scriptedCall } from '../../test/tools/scripted-exec.ts';
import type { Script } from '../../test/tools/scripted-exec.ts';
import { callMcpTool } from './call-mcp-tool.ts';
import { getMcpToolsTool } from './get-mcp-tools.ts';
import { flatMcpTools } from './mcp-flat.ts';
import { buildMcpTable } from './mcp-table.ts';
import { parseArguments } from './arguments.ts';
import { ExecFailure } from './tool.ts';

const SCHEMA = { type: 'object', properties: { id: { type: 'string' }, n: { type: 'integer' } }, required: ['id'] };
const definition = (server: string, tool: string, schema: JsonValue = { type: 'object' }, description = 'a tool') =>
  create(McpToolDefinitionSchema, {
    name: `${server}-${tool}`,
    description,
    providerIdentifier: server,
    toolName: tool,
    inputSchema: fromJson(ValueSchema, schema),
  });
const zoo = () =>
  buildMcpTable([[definition('zoo', 'feed', SCHEMA, 'feeds an animal\nwith care'), definition('zoo', 'wash')]]);
const jsonOf = (args: Record<string, Value>) =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, toJson(ValueSchema, value)]));
const text = (value: string, more: object = {}) => ({
  content: { case: 'text' as const, value: { text: value, ...more } },
});
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);

describe('CallMcpTool', () => {
  const callMcp = async (args: Parameters<typeof callMcpTool.execute>[0], mcp: Script['mcp'], vision = false) => {
    const call = scriptedCall({ mcp: mcp! }, { mcp: zoo(), vision });
    return { ...(await runTool(callMcpTool, args, call)), calls: call.calls };
  };
  const fine: Script['mcp'] = { case: 'success', value: { content: [text('fed')] } };

  it('calls with the advertised name, the tool name and the provider, and keeps the JSON types of the arguments', async () => {
    const given = { id: '00123', n: 3, f: 1.5, b: true, z: null, o: { k: ['1', 1] } };
    const {
      calls,
      args,
      text: read,
      result,
    } = await callMcp({ server: 'zoo', tool_name: 'feed', arguments: given }, fine);
    expect(calls).toHaveLength(1);
    const { args: sent, ...names } = calls[0]?.args;
    expect(names).toEqual({
      name: 'zoo-feed',
      toolName: 'feed',
      providerIdentifier: 'zoo',
      serverIdentifier: 'zoo',
      toolCallId: 'call-1',
    });
    expect(jsonOf(sent)).toEqual(given);
    expect(jsonOf(args.args)).toEqual(given);
    expect(read).toBe('fed');
    expect(result).toMatchObject({ case: 'success', value: { isError: false } });
  });

  it('takes arguments that are written as a JSON text', async () => {
    const parsed = parseArguments(callMcpTool, '{"server":"zoo","toolName":"feed","arguments":"{\\"id\\":\\"1\\"}"}');
    expect(parsed).toEqual({ ok: true, args: { server: 'zoo', tool_name: 'feed', arguments: { id: '1' } } });
  });

  it('calls a server that nobody told of, as the model named it', async () => {
    const { calls } = await callMcp({ server: 'late', tool_name: 'thing' }, fine);
    expect(calls[0]?.args).toMatchObject({ name: 'thing', toolName: 'thing', providerIdentifier: 'late', args: {} });
  });

  it('answers arguments that break the schema with the schema, and asks nobody', async () => {
    const { calls, text: read, isError, result } = await callMcp({ server: 'zoo', tool_name: 'feed' }, fine);
    expect(calls).toEqual([]);
    expect(read).toContain('"id" is missing');
    expect(read).toContain(JSON.stringify(SCHEMA.properties));
    expect([isError, result.case]).toEqual([true, 'error']);
  });

  const wash = { server: 'zoo', tool_name: 'wash' };

  it('marks what the tool calls an error, and leaves the card as the client sent it', async () => {
    const {
      text: read,
      isError,
      result,
    } = await callMcp(wash, { case: 'success', value: { isError: true, content: [text('no soap')] } });
    expect([read, isError]).toEqual(['no soap', true]);
    expect(result).toMatchObject({ case: 'success', value: { isError: true } });
  });

  it('shows images to a model that takes them, and describes them to one that does not', async () => {
    const mcp: Script['mcp'] = {
      case: 'success',
      value: { content: [text('look'), { content: { case: 'image', value: { data: PNG, mimeType: 'image/png' } } }] },
    };
    expect((await callMcp(wash, mcp, true)).content).toEqual([
      { type: 'text', text: 'look' },
      { type: 'image', image: 'data:image/png;base64,iVBORw==', mediaType: 'image/png' },
    ]);
    expect((await callMcp(wash, mcp)).content).toBe(
      'look\nThe result is an image (image/png, 4 bytes). This model takes no images.',
    );
  });

  it('shows structured content when there is nothing else, and says when there is nothing at all', async () => {
    const structured = await callMcp(wash, { case: 'success', value: { structuredContent: { sum: 42 } } });
    expect(structured.text).toBe('{"sum":42}');
    expect((await callMcp(wash, { case: 'success', value: {} })).text).toBe('(no output)');
  });

  it('cuts a large text and names the file with all of it', async () => {
    const value = { content: [text('y'.repeat(90_000), { outputLocation: { filePath: '/t/out.txt' } })] };
    const { text: read } = await callMcp(wash, { case: 'success', value });
    expect(read.length).toBeLessThan(33_000);
    expect(read).toMatch(/58000 characters left out/);
    expect(read).toMatch(/\/t\/out\.txt\.\)$/);
  });

  it.each<[NonNullable<Script['mcp']>, string, RegExp]>([
    [
      { case: 'error', value: { error: 'it broke', needsAuth: true } },
      'error',
      /wash of the MCP server zoo failed: it broke The user has to sign in/,
    ],
    [{ case: 'rejected', value: { reason: 'no' } }, 'rejected', /did not allow .* no$/],
    [
      { case: 'permissionDenied', value: { error: 'denied', isReadonly: true } },
      'permissionDenied',
      /read-only\. denied/,
    ],
    [
      { case: 'toolNotFound', value: { name: 'wash', availableTools: ['dry'] } },
      'error',
      /has no tool wash\. It has: dry\./,
    ],
    [{ case: 'toolNotFound', value: { name: 'wash' } }, 'error', /It has: feed, wash\./],
    [
      { case: 'serverNotFound', value: { name: 'zoo', availableServers: ['farm'] } },
      'error',
      /no MCP server zoo\. There are: farm\./,
    ],
    [{ case: 'serverNotFound', value: { name: 'zoo' } }, 'error', /There are: zoo\./],
    [{ case: 'approved', value: {} }, 'error', /did not run/],
    [new ExecFailure('thrown', 'corrupt image'), 'error', /^corrupt image$/],
    [new ExecFailure('unavailable', 'No handler'), 'error', /^CallMcpTool is not available/],
  ])('turns %o into %s', async (answer, branch, words) => {
    const { text: read, isError, result } = await callMcp(wash, answer);
    expect(read).toMatch(words);
    expect([isError, result.case]).toEqual([true, branch]);
  });

  it('opens and closes a card', () => {
    const { context } = scriptedCall({});
    expect(openCard(callMcpTool.open({}, context), 'mcpToolCall').args.toolName).toBe('');
    expect(
      openCard(callMcpTool.close({ server: 'a', tool_name: 'b' }, 'cut', context), 'mcpToolCall').result.result.case,
    ).toBe('error');
  });
});

describe('a flat MCP tool', () => {
  const [feed] = flatMcpTools(zoo());

  it('has the name, description and schema of the MCP tool', () => {
    expect(feed).toMatchObject({
      name: 'mcp_zoo_feed',
      description: 'feeds an animal\nwith care',
      parameters: SCHEMA,
      card: 'mcpToolCall',
    });
    const [bare] = flatMcpTools(buildMcpTable([[definition('zoo', 'x', {}, ' ')]]));
    expect(bare?.description).toBe('The tool x of the MCP server zoo.');
  });

  it('calls it with its advertised names', async () => {
    const call = scriptedCall({ mcp: { case: 'success', value: { content: [text('ok')] } } }, { mcp: zoo() });
    const { args } = await runTool(feed!, { id: '1' }, call);
    expect(call.calls[0]?.args).toMatchObject({ name: 'zoo-feed', toolName: 'feed', providerIdentifier: 'zoo' });
    expect(args).toMatchObject({ name: 'zoo-feed', toolName: 'feed', providerIdentifier: 'zoo', toolCallId: 'call-1' });
  });

  it('refuses arguments that break its schema, and leaves all others as they are', () => {
    expect(parseArguments(feed!, '{"n":"3"}')).toMatchObject({
      ok: false,
      args: { n: '3' },
      message: expect.stringContaining('"id" is missing'),
    });
    expect(parseArguments(feed!, '{"id":"007","n":3,"file_path":"x","z":null}')).toEqual({
      ok: true,
      args: { id: '007', n: 3, file_path: 'x', z: null },
    });
  });

  it('closes with an error when the client breaks', async () => {
    const call = scriptedCall({ mcp: new ExecFailure('closed', 'closed without a result') }, { mcp: zoo() });
    expect((await runTool(feed!, { id: '1' }, call)).result).toMatchObject({
      case: 'error',
      value: { error: 'closed without a result' },
    });
  });
});

describe('GetMcpTools', () => {
  const list = async (
    args: Parameters<typeof getMcpToolsTool.execute>[0],
    mcpState?: Script['mcpState'],
    mcp = zoo(),
  ) => {
    const call = scriptedCall(mcpState ? { mcpState } : {}, { mcp });
    return { ...(await runTool(getMcpToolsTool, args, call)), sent: call.calls[0]?.args, mcp };
  };

  it('lists what the run knows when the client cannot say', async () => {
    const { text: read, isError, result } = await list({});
    expect(read).toBe('Server zoo\n- feed: feeds an animal\n- wash: a tool');
    expect(isError).toBe(false);
    expect(result).toMatchObject({ case: 'success', value: { content: read } });
    expect((await list({}, { case: 'rejected', value: { reason: 'no' } })).text).toBe(read);
  });

  it('lists what the client says, and the run learns it', async () => {
    const servers = [
      {
        serverName: 'Farm',
        serverIdentifier: 'farm',
        tools: [definition('farm', 'plough')],
        instructions: [{ instructions: 'at dawn' }],
        status: 'connected',
      },
      { serverName: 'Zoo', serverIdentifier: 'zoo', status: 'error', errorMessage: 'gone' },
    ];
    const { text: read, sent, mcp } = await list({}, { case: 'success', value: { servers } });
    expect(sent).toEqual({ serverIdentifiers: [] });
    expect(read).toBe(
      'Server zoo (Zoo), error: gone\n- feed: feeds an animal\n- wash: a tool\n\nServer farm (Farm), connected\nat dawn\n- plough: a tool',
    );
    expect(mcp.find('farm', 'plough')?.advertisedName).toBe('farm-plough');
  });

  it('describes arguments when a server, a tool or a pattern is named', async () => {
    const { text: read, sent } = await list({ server: 'ZOO', tool_name: 'feed' });
    expect(sent).toEqual({ serverIdentifiers: ['zoo'] });
    expect(read).toBe(`Server zoo\n- feed: feeds an animal\nwith care\n  arguments: ${JSON.stringify(SCHEMA)}`);
    expect((await list({ pattern: 'WA.H' })).text).toMatch(/^Server zoo\n- wash: a tool\n {2}arguments: /);
    expect((await list({ pattern: 'nothing' })).text).toBe('No MCP tool fits. Servers: zoo.');
    expect((await list({ server: 'ark' })).text).toBe('There is no MCP server ark. There are: zoo.');
  });

  it('answers a pattern that is none with an error', async () => {
    const { text: read, isError, result } = await list({ pattern: '(' });
    expect(read).toMatch(/not a regular expression/);
    expect([isError, result.case]).toEqual([true, 'error']);
  });

  it('does not go on when the run was cancelled', async () => {
    const call = scriptedCall({ mcpState: new ExecFailure('aborted', 'cancelled') }, { mcp: zoo() });
    const outcome = await runTool(getMcpToolsTool, {}, call);
    expect(outcome.result).toMatchObject({ case: 'error', value: { error: 'cancelled' } });
  });
});
