import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedExec, Peer } from '../support/peer.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';
import { transports } from '../support/wire.ts';

const THEN = { text: 'I see.' };
const definition = (server: string, toolName: string, more: object = {}) => ({
  name: `${server}-${toolName}`,
  providerIdentifier: server,
  toolName,
  description: `${toolName} of ${server}`,
  inputSchemaJson: '{"type":"object","properties":{"id":{"type":"string"}}}',
  ...more,
});
const namesOf = (house: House) => house.requests[0]!.body.tools!.map(tool => tool.function.name);
const mcpAsked = (peer: Peer) =>
  peer.execs.flatMap(({ message }) => (message.case === 'mcpArgs' ? [message.value] : []));

describe('MCP tools', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  /** A turn whose model calls `zoo/feed` by the name it is offered under. */
  const feed = async (extra: object = {}, context: object = {}, args: object = { id: '7' }) => {
    house.say({ calls: [{ name: 'mcp_zoo_feed', args }] }, THEN);
    const peer = house.peer();
    peer.workspace.context = { ...context };
    peer.workspace.mcp.set('zoo/feed', () => 'it ate');
    await peer.turn('feed it', { ...extra });
    return peer;
  };
  const wasFed = (peer: Peer) => {
    expect(mcpAsked(peer)).toHaveLength(1);
    expect(toolTexts(house.requests[1]!.body)).toEqual(['it ate']);
    expect(peer.fault).toBeUndefined();
    expect(namesOf(house).filter(name => name === 'mcp_zoo_feed')).toHaveLength(1);
  };
  const inAction = { env: { workspacePaths: ['/w'], terminalsFolder: '/t' }, tools: [definition('zoo', 'feed')] };
  const action = {
    action: {
      action: { case: 'userMessageAction', value: { userMessage: { text: 'feed it' }, requestContext: inAction } },
    },
  };

  it('[R60-run-request-carrier] F43: MCP tools that come in run_request.mcp_tools can be called, and none is listed first', async () => {
    wasFed(await feed({ mcpTools: { mcpTools: [definition('zoo', 'feed')] } }));
  });

  it("[R60-action-carrier] that come in the action's context can be called", async () => {
    const peer = await feed(action);
    wasFed(peer);
    expect(peer.all('exec.requestContextArgs')).toEqual([]);
  });

  it('[R60-context-result-carrier] that come in request_context_result can be called, and one in several carriers is offered once', async () => {
    wasFed(await feed({}, { tools: [definition('zoo', 'feed')] }));
    wasFed(
      await feed(
        { mcpTools: { mcpTools: [definition('zoo', 'feed')] } },
        { tools: [definition('zoo', 'feed'), definition('zoo', 'feed')] },
      ),
    );
    wasFed(await feed({ mcpTools: { mcpTools: [definition('zoo', 'feed')] }, ...action }));
  });

  it('[R60-advertised-names] are called back with the name, tool name and provider that were advertised', async () => {
    const peer = await feed({
      mcpTools: { mcpTools: [definition('zoo', 'feed', { name: 'Zoo: feed the animals!' })] },
    });
    expect(mcpAsked(peer)[0]).toMatchObject({
      name: 'Zoo: feed the animals!',
      toolName: 'feed',
      providerIdentifier: 'zoo',
    });
    const [card] = cardsOf(peer);
    expect(card!.completed[0]!.toolCall!.tool).toMatchObject({
      case: 'mcpToolCall',
      value: { args: { toolName: 'feed', toolCallId: card!.callId } },
    });
  });

  it('[R61-valid-unique-names] have names that every provider takes, all different, and each leads to its own tool', async () => {
    const long = 'a_tool_whose_name_goes_on_and_on_until_no_provider_would_take_it';
    const odd = [
      definition('zoo', `${long}_1`),
      definition('zoo', `${long}_2`),
      definition('zoo', 'über füttern'),
      definition('my zoo', 'feed'),
      definition('my_zoo', 'feed'),
    ];
    house.say(THEN);
    await house.peer().turn('hi', { mcpTools: { mcpTools: odd } });
    const names = namesOf(house);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const flat = names.filter(name => name.startsWith('mcp_'));
    expect(flat).toHaveLength(odd.length);

    house.say({ calls: flat.map(name => ({ name, args: {} })) }, THEN);
    const peer = house.peer();
    for (const tool of odd) peer.workspace.mcp.set(`${tool.providerIdentifier}/${tool.toolName}`, () => 'yes');
    await peer.turn('call all', { mcpTools: { mcpTools: odd } });
    expect(mcpAsked(peer).map(args => [args.providerIdentifier, args.toolName])).toEqual(
      odd.map(tool => [tool.providerIdentifier, tool.toolName]),
    );
  });

  it('[R61-schemas-normalised] have schemas that begin with an object, and integers stay integers', async () => {
    house.say(THEN);
    const schema = fromJson(ValueSchema, {
      properties: { count: { type: 'integer', minimum: 3, default: 5 } },
      required: ['count'],
    });
    const tools = [
      definition('zoo', 'count', { inputSchemaJson: undefined, inputSchema: schema }),
      definition('zoo', 'nothing', { inputSchemaJson: undefined }),
    ];
    await house.peer().turn('hi', { mcpTools: { mcpTools: tools } });
    const parametersOf = (name: string) =>
      house.requests[0]!.body.tools!.find(tool => tool.function.name === name)!.function.parameters;
    expect(parametersOf('mcp_zoo_count')).toMatchObject({
      type: 'object',
      properties: { count: { type: 'integer', minimum: 3, default: 5 } },
      required: ['count'],
    });
    expect(parametersOf('mcp_zoo_nothing')).toMatchObject({ type: 'object', properties: {} });
    expect(house.requests[0]!.text).toContain('"minimum":3,');
  });

  it('[product-get-mcp-tools] are listed by GetMcpTools, filtered by server and by pattern', async () => {
    const tools = [definition('zoo', 'feed'), definition('zoo', 'wash'), definition('farm', 'plough')];
    const list = async (args: object) => {
      house.say({ calls: [{ name: 'GetMcpTools', args }] }, THEN);
      const on: Peer['on'] = { mcpStateExecArgs: exec => exec.throw('No handler for it') };
      await house.peer({ on }).turn('list', { mcpTools: { mcpTools: tools } });
      return ['feed', 'wash', 'plough'].filter(name => toolTexts(house.requests[1]!.body)[0]!.includes(`- ${name}`));
    };
    expect(await list({})).toEqual(['feed', 'wash', 'plough']);
    expect(await list({ server: 'zoo' })).toEqual(['feed', 'wash']);
    expect(await list({ pattern: '^(wash|plough)' })).toEqual(['wash', 'plough']);
    expect(await list({ server: 'zoo', pattern: 'WASH' })).toEqual(['wash']);
  });

  it('[K11-argument-types] get their arguments through CallMcpTool with the JSON types they were written with', async () => {
    const given = { id: '00123', n: 3, half: 0.5, on: true, none: null, list: ['1', 1], deep: { n: '7' } };
    house.say({ calls: [{ name: 'CallMcpTool', args: { server: 'zoo', tool_name: 'feed', arguments: given } }] }, THEN);
    const peer = house.peer();
    peer.workspace.mcp.set('zoo/feed', () => 'ok');
    await peer.turn('call', { mcpTools: { mcpTools: [definition('zoo', 'feed')] } });
    const [args] = mcpAsked(peer);
    expect(
      Object.fromEntries(Object.entries(args!.args).map(([name, value]) => [name, toJson(ValueSchema, value)])),
    ).toEqual(given);
    expect(args).toMatchObject({ name: 'zoo-feed', toolName: 'feed', providerIdentifier: 'zoo' });
  });
});

describe('a call by another name', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[R62-unknown-tool-named] X22: a tool that was not offered is an error with the valid names, and no exec', async () => {
    house.say(
      {
        calls: [
          { name: 'FlyToTheMoon', args: { now: true } },
          { name: 'Read', args: { path: 'a.txt' } },
        ],
      },
      THEN,
    );
    const peer = await house.peer().turn('fly');
    expect(peer.execs.map(exec => exec.message.case)).toEqual(['requestContextArgs', 'readArgs']);
    const [text] = toolTexts(house.requests[1]!.body);
    expect(text).toMatch(/^Error: There is no tool "FlyToTheMoon"/);
    for (const name of namesOf(house)) expect(text).toContain(name);
    expect([peer.text, peer.fault]).toEqual(['I see.', undefined]);
  });

  it.each<[string, object, string, object]>([
    [
      'read_file',
      { file_path: 'a.txt', offset: '1', limit: '1' },
      'readArgs',
      { path: '/home/dev/project/a.txt', offset: 1, limit: 1 },
    ],
    ['functions.Read', { target_file: 'a.txt' }, 'readArgs', { path: '/home/dev/project/a.txt' }],
    ['Bash', { cmd: 'ls', timeout: '5000.0' }, 'shellStreamArgs', { command: 'ls', timeout: 5000 }],
    [
      'str_replace',
      { file_path: 'a.txt', old_str: 'hi', new_str: 'ho' },
      'readArgs',
      { path: '/home/dev/project/a.txt' },
    ],
    ['list_dir', { directory: '.' }, 'lsArgs', {}],
    ['AwaitShell', { shell_id: 41, block_until_ms: '0' }, 'readArgs', { path: '/home/dev/project/.terminals/41.txt' }],
  ])('[R62-aliases] %s with %j is understood', async (name, args, kind, sent) => {
    house.say({ calls: [{ name, args }] }, THEN);
    const peer = house.peer();
    peer.workspace.files.set('.terminals/41.txt', '---\npid: 9\n---\nworking\n');
    await peer.turn('go');
    const asked = peer.execs.find(({ message }) => message.case === kind);
    expect(asked?.message.value).toMatchObject(sent);
    expect(toolTexts(house.requests[1]!.body)[0]).not.toMatch(/^Error/);
  });

  it('[R62-aliases] with a number that is written as 2.0 is understood', async () => {
    house.say({ calls: [{ name: 'Read', args: '{"path":"a.txt","offset":2.0,"limit":1.0}' }] }, THEN);
    await house.peer().turn('go');
    expect(toolTexts(house.requests[1]!.body)[0]).toContain('2|second line');
  });
});

describe('what is offered', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[R63-only-what-works] leaves out tools whose client ability is missing', async () => {
    house.say(THEN);
    await house.peer().turn('hi');
    const usual = namesOf(house);
    expect(usual).toEqual(
      expect.arrayContaining([
        'Read',
        'Write',
        'StrReplace',
        'Delete',
        'Glob',
        'Grep',
        'Ls',
        'Shell',
        'AwaitShell',
        'TodoWrite',
      ]),
    );
    for (const name of ['GetMcpTools', 'CallMcpTool', 'WebSearch', 'Task']) expect(usual).not.toContain(name);
    house.say(THEN);
    const bare = {
      action: {
        action: {
          case: 'userMessageAction',
          value: { userMessage: { text: 'hi' }, requestContext: { env: { workspacePaths: ['/w'] } } },
        },
      },
    };
    await house.peer().turn('hi', bare);
    expect(namesOf(house)).not.toContain('AwaitShell');
    house.say(THEN);
    await house.peer().turn('hi', { mcpTools: { mcpTools: [definition('zoo', 'feed')] } });
    expect(namesOf(house)).toEqual(expect.arrayContaining(['GetMcpTools', 'CallMcpTool', 'mcp_zoo_feed']));
  });

  it('P19: nothing is offered when the client allows no tools, and then the request has no tools key', async () => {
    house.say(THEN);
    await house.peer({ headers: { 'x-cursor-agent-allowed-tools': '' } }).turn('hi');
    expect(house.requests[0]!.body).not.toHaveProperty('tools');
    house.say(THEN);
    await house.peer({ headers: { 'x-cursor-agent-allowed-tools': 'read_tool_call,ls_tool_call' } }).turn('hi');
    expect(namesOf(house)).toEqual(['Read', 'Ls']);
  });
});

describe.each(transports)('the tools of one answer over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport });
  });
  afterAll(() => house.close());

  it('[product-parallel-round] run at the same time', async () => {
    house.say({ calls: ['a.txt', 'b.txt', 'c.txt'].map(path => ({ name: 'Read', args: { path } })) }, THEN);
    const held: AskedExec[] = [];
    const peer = house.peer({
      on: {
        // nobody is answered before all were asked
        readArgs: async exec => {
          held.push(exec);
          if (held.length === 3) for (const one of held.reverse()) await one.auto();
        },
      },
    });
    for (const name of ['a', 'b', 'c']) peer.workspace.files.set(`${name}.txt`, name);
    await peer.turn('read all');
    expect(toolTexts(house.requests[1]!.body)).toEqual(['1|a', '1|b', '1|c']);
    expect(peer.faults).toEqual([]);
  });

  it('[P09-same-index] are told apart under one index, and interleaved arguments each find their own call', async () => {
    const call = (id: string, index: number) => ({ call: { id, name: 'Read', index } });
    house.say(
      {
        events: [
          { call: { id: 'a', name: 'Read', index: 0, args: '{"path":"a.txt"}' } },
          { call: { id: 'b', name: 'Read', index: 0, args: '{"path":"b.txt"}' } },
        ],
      },
      {
        events: [
          call('c', 0),
          call('d', 1),
          { args: '{"pa', index: 0 },
          { args: '{"path":', index: 1 },
          { args: 'th":"c.txt"}', index: 0 },
          { args: '"d.txt"}', index: 1 },
        ],
      },
      THEN,
    );
    const peer = house.peer();
    for (const name of ['a', 'b', 'c', 'd']) peer.workspace.files.set(`${name}.txt`, `text of ${name}`);
    await peer.turn('read all');
    expect(toolTexts(house.requests[2]!.body)).toEqual(['a', 'b', 'c', 'd'].map(name => `1|text of ${name}`));
  });
});

describe('what a tool gives the model', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  it('[product-str-replace-unique] is a refusal when StrReplace finds its text more than once, unless all are to be replaced', async () => {
    const replace = async (more: object) => {
      house.say(
        { calls: [{ name: 'StrReplace', args: { path: 'a.txt', old_string: 'x', new_string: 'y', ...more } }] },
        THEN,
      );
      const peer = house.peer();
      peer.workspace.files.set('a.txt', 'x and x');
      await peer.turn('replace');
      return { peer, text: toolTexts(house.requests[1]!.body)[0]! };
    };
    const refused = await replace({});
    expect(refused.peer.workspace.done).toEqual(['read a.txt']);
    expect(refused.text).toMatch(/^Error: .*2/s);
    expect(resultOf(cardsOf(refused.peer)[0]!)?.case).toBe('error');
    const all = await replace({ replace_all: true });
    expect(all.peer.workspace.files.get('a.txt')).toBe('y and y');
  });

  it('[P22-well-formed-strings] P22: what a tool gives reaches the provider as valid JSON when a result has half a character', async () => {
    house.say(
      {
        calls: [
          { name: 'Shell', args: { command: 'cut' } },
          { name: 'Read', args: { path: 'a.txt' } },
        ],
      },
      THEN,
    );
    const half = '\ud83d';
    const peer = house.peer({
      on: {
        // the cut falls inside the emoji that begins at the last character of the head
        shellStreamArgs: async exec => {
          await exec.reply({
            case: 'shellStream',
            value: { event: { case: 'stdout', value: { data: '😀'.repeat(40_000) } } },
          });
          await exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } });
        },
      },
    });
    await peer.turn(`a lone half: ${half}`.toWellFormed());
    const { text, body } = house.requests[1]!;
    expect(JSON.parse(text)).toEqual(body);
    expect(text).not.toMatch(/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])/i);
    for (const shown of toolTexts(body)) expect(shown.isWellFormed()).toBe(true);
    expect(toolTexts(body)[0]).toMatch(/^(😀)+\n… \d+ characters left out …\n(😀)+\nExit code: 0$/u);
  });

  it('[P22-well-formed-strings] P22: a request has U+FFFD where the history of a client has half a character', async () => {
    house.say(THEN);
    const stored =
      '[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"Shell","args":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"Shell","result":"half \\ud83d gone"}]}]';
    const roots = (JSON.parse(stored) as object[]).map(message => Buffer.from(JSON.stringify(message)));
    await house.peer().turn('go on', { conversationState: { rootPromptMessagesJson: roots } });
    expect(toolTexts(house.requests[0]!.body)).toEqual(['half \ufffd gone']);
  });

  it('[P24-text-only-model] P24: there is a note in place of an image for a model without vision, which is asked to say so', async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
    const selectedContext = { selectedImages: [{ dataOrBlobId: { case: 'data', value: png }, mimeType: 'image/png' }] };
    house.say(THEN);
    const blind = await house.peer({ model: 'blind-model' }).turn('what is this?', {}, { selectedContext });
    expect(house.requests[0]!.text).not.toContain('image_url');
    expect(textsOf(house.requests[0]!.body, 'user').at(-1)).toMatch(
      /what is this\?.*image.*cannot see.*tell the user/s,
    );
    expect(blind.text).toBe('I see.');
    house.say(THEN);
    await house.peer().turn('what is this?', {}, { selectedContext });
    expect(house.requests[0]!.text).toContain(`data:image/png;base64,${Buffer.from(png).toString('base64')}`);
  });

  it('is an image for a model that sees, and a note for one that does not, when it read a picture', async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
    const on: Peer['on'] = {
      readArgs: exec =>
        exec.reply({
          case: 'readResult',
          value: { result: { case: 'success', value: { path: '/p.png', output: { case: 'data', value: png } } } },
        }),
    };
    const calls = [{ name: 'Read', args: { path: 'p.png' } }];
    house.say({ calls }, THEN);
    await house.peer({ model: 'blind-model', on }).turn('look');
    expect(house.requests[1]!.text).not.toContain('base64');
    expect(toolTexts(house.requests[1]!.body)[0]).toMatch(/takes no images/);
    house.say({ calls }, THEN);
    await house.peer({ on }).turn('look');
    expect(house.requests[1]!.text).toContain('data:image/png;base64,');
  });
});
