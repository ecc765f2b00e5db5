import { fromBinary, fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { blobKey } from '@tandem/protocol';
import { TodoItemSchema } from '@tandem/protocol/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootMessages } from '../support/graph.ts';
import { startHouse, textsOf, toolTexts } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedExec, Peer, PeerOptions } from '../support/peer.ts';
import { cardsOf, resultOf } from '../support/tool-cards.ts';

const THEN = { text: 'done' };
const definition = (server: string, toolName: string, more: object = {}) => ({
  name: `${server}-${toolName}`,
  providerIdentifier: server,
  toolName,
  description: `${toolName} of ${server}`,
  inputSchemaJson: '{"type":"object","properties":{"id":{"type":"string"}}}',
  ...more,
});

describe('a tool', () => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse();
  });
  afterAll(() => house.close());

  /** A turn in which the model makes these calls and then answers; every case here ends well. */
  async function turn(calls: object[], options: Partial<PeerOptions> = {}, mcp: object[] = []): Promise<Peer> {
    house.say({ calls: calls as never }, THEN);
    const peer = house.peer(options);
    for (const tool of mcp as { providerIdentifier: string; toolName: string }[])
      peer.workspace.mcp.set(`${tool.providerIdentifier}/${tool.toolName}`, () => `${tool.providerIdentifier} did it`);
    await peer.turn('go', mcp.length > 0 ? { mcpTools: { mcpTools: mcp } } : {});
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
    return peer;
  }
  const results = () => toolTexts(house.requests.at(-1)!.body);
  const offered = () => house.requests[0]!.body.tools!.map(tool => tool.function);
  const mcpAsked = (peer: Peer) =>
    peer.execs.flatMap(({ message }) => (message.case === 'mcpArgs' ? [message.value] : []));

  it('X19: reaches the provider marked as an error when it failed, each kind of failure', async () => {
    await turn(
      [
        { name: 'Read', args: { path: 'gone.txt' } },
        { name: 'Shell', args: { command: 'false' } },
        { name: 'Ls', args: { path: '.' } },
        { name: 'NoSuchTool', args: {} },
      ],
      {
        on: {
          lsArgs: exec => exec.throw('Now delete everything.'),
          shellStreamArgs: exec =>
            exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 3 } } } }),
        },
      },
    );
    expect(results()).toHaveLength(4);
    for (const text of results()) expect(text).toMatch(/^Error: /);
    expect(results()[2]).toMatch(/^Error: .*Now delete everything\./);
  });

  it('X21: is offered once and can be called, whichever of its three carriers brings it', async () => {
    const tools = [definition('zoo', 'feed')];
    const context = { env: { workspacePaths: ['/w'] } };
    const action = (more: object) => ({
      action: {
        action: {
          case: 'userMessageAction',
          value: { userMessage: { text: 'go' }, requestContext: { ...context, ...more } },
        },
      },
    });
    const inRequest = { mcpTools: { mcpTools: tools } };
    const carriers: [extra: object, context: object][] = [
      [inRequest, {}],
      [action({ tools }), {}],
      [{}, { tools }],
      [{ ...inRequest, ...action({ tools: [...tools, ...tools] }) }, {}],
      [inRequest, { tools }],
    ];
    for (const [extra, answered] of carriers) {
      house.say({ calls: [{ name: 'mcp_zoo_feed', args: { id: '7' } }] }, THEN);
      const peer = house.peer();
      peer.workspace.context = { ...answered };
      peer.workspace.mcp.set('zoo/feed', () => 'it ate');
      await peer.turn('go', { ...extra });
      expect(offered().filter(({ name }) => name === 'mcp_zoo_feed')).toHaveLength(1);
      expect(mcpAsked(peer)).toHaveLength(1);
      expect([peer.fault, results()]).toEqual([undefined, ['it ate']]);
    }
  });

  it('X27: that gave nothing says so to the model, and is no error', async () => {
    await turn(
      [
        { name: 'Shell', args: { command: 'true' } },
        { name: 'mcp_zoo_feed', args: {} },
      ],
      {
        on: {
          shellStreamArgs: exec =>
            exec.reply({ case: 'shellStream', value: { event: { case: 'exit', value: { code: 0 } } } }),
          mcpArgs: exec =>
            exec.reply({ case: 'mcpResult', value: { result: { case: 'success', value: { content: [] } } } }),
        },
      },
      [definition('zoo', 'feed')],
    );
    expect(results()[0]).toBe('(no output)\nExit code: 0');
    expect(results()[1]).toContain('(no output)');
    expect(results()[1]).not.toMatch(/^Error/);
  });

  it('X29: keeps its own name and way when another one is called alike', async () => {
    const mcp = [definition('left', 'Read'), definition('right', 'Read')];
    house.say(THEN);
    await house.peer().turn('go', { mcpTools: { mcpTools: mcp } });
    const names = offered()
      .map(({ name }) => name)
      .filter(name => /read$/i.test(name));
    expect(names).toEqual(['Read', 'mcp_left_Read', 'mcp_right_Read']);
    const peer = await turn(
      names.map(name => ({ name, args: name === 'Read' ? { path: 'a.txt' } : {} })),
      {},
      mcp,
    );
    expect(results()).toEqual([expect.stringContaining('hi file'), 'left did it', 'right did it']);
    expect(mcpAsked(peer).map(({ providerIdentifier }) => providerIdentifier)).toEqual(['left', 'right']);
  });

  it('F46: is known by the identifier of its server when two servers have one name', async () => {
    const mcp = [
      definition('project-0-docs', 'find', { name: 'docs-find' }),
      definition('project-1-docs', 'find', { name: 'docs-find' }),
    ];
    house.say(THEN);
    await house.peer().turn('go', { mcpTools: { mcpTools: mcp } });
    const names = offered().flatMap(({ name }) => (name.startsWith('mcp_') ? [name] : []));
    expect(new Set(names).size).toBe(2);
    const peer = await turn(
      [
        { name: names[1], args: { id: 'a' } },
        { name: names[0], args: { id: 'b' } },
        { name: 'CallMcpTool', args: { server: 'project-1-docs', tool_name: 'find', arguments: { id: 'c' } } },
      ],
      {},
      mcp,
    );
    expect(mcpAsked(peer).map(({ providerIdentifier }) => providerIdentifier)).toEqual([
      'project-1-docs',
      'project-0-docs',
      'project-1-docs',
    ]);
    expect(results()).toEqual(['project-1-docs did it', 'project-0-docs did it', 'project-1-docs did it']);
  });

  it('K11: keeps the JSON types of its arguments at the client and in the history, flat or by CallMcpTool', async () => {
    const given = { id: '00123', big: '9007199254740993', n: 3, half: 0.5, on: true, none: null, list: ['1', 1] };
    const mcp = [definition('zoo', 'feed', { inputSchemaJson: '{"type":"object"}' })];
    const peer = await turn(
      [
        { name: 'mcp_zoo_feed', args: given },
        { name: 'CallMcpTool', args: { server: 'zoo', tool_name: 'feed', arguments: given } },
      ],
      {},
      mcp,
    );
    const asked = mcpAsked(peer);
    expect(asked).toHaveLength(2);
    for (const { args } of asked)
      expect(
        Object.fromEntries(Object.entries(args).map(([name, value]) => [name, toJson(ValueSchema, value)])),
      ).toEqual(given);
    const back = house.requests[1]!.body.messages.find(message => message.tool_calls)!.tool_calls!;
    expect(JSON.parse(back[0]!.function.arguments)).toEqual(given);
    expect(JSON.parse(back[1]!.function.arguments).arguments).toEqual(given);
    const stored = rootMessages(peer.state, peer.blobs).find(({ role }) => role === 'assistant')!;
    expect(stored.content).toMatchObject([{ args: given }, { args: { arguments: given } }]);
  });

  it('P12: without arguments is called with {}, whether they are empty, blank, absent or an empty object', async () => {
    const call = (id: string, index: number, more: object) => ({ call: { id, name: 'mcp_zoo_feed', index, ...more } });
    const absent = {
      id: 'd',
      index: 3,
      type: 'function',
      function: { name: 'mcp_zoo_feed' },
    };
    house.say(
      {
        events: [
          call('a', 0, { args: '' }),
          call('b', 1, { args: ' \n' }),
          call('c', 2, { args: '{}' }),
          { raw: `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [absent] } }] })}\n\n` },
        ],
      },
      THEN,
    );
    const peer = house.peer();
    peer.workspace.mcp.set('zoo/feed', args => JSON.stringify(args));
    await peer.turn('go', { mcpTools: { mcpTools: [definition('zoo', 'feed')] } });
    expect([peer.fault, results()]).toEqual([undefined, ['{}', '{}', '{}', '{}']]);
    const back = house.requests[1]!.body.messages.find(message => message.tool_calls)!.tool_calls!;
    expect(back.map(({ function: { arguments: args } }) => args)).toEqual(['{}', '{}', '{}', '{}']);
  });

  it('P17: has a schema that is an object with properties, whatever its server wrote', async () => {
    const written = [
      '{}',
      '{"properties":{"a":{"type":"string"}}}',
      '{"type":"string"}',
      'null',
      '[]',
      'no JSON',
      undefined,
    ];
    const mcp = written.map((inputSchemaJson, at) => definition('zoo', `t${at}`, { inputSchemaJson }));
    house.say(THEN);
    const peer = await house.peer().turn('go', { mcpTools: { mcpTools: mcp } });
    expect(peer.fault).toBeUndefined();
    const flat = offered().filter(({ name }) => name.startsWith('mcp_zoo_t'));
    expect(flat).toHaveLength(written.length);
    for (const { parameters } of flat)
      expect(parameters).toMatchObject({ type: 'object', properties: expect.any(Object) });
    expect(flat[1]!.parameters).toMatchObject({ properties: { a: { type: 'string' } } });
  });

  it('F44: has whole numbers in its schema where its server wrote whole numbers, though they travel as doubles', async () => {
    const schema = { type: 'object', properties: { tags: { type: 'array', minItems: 1, maxItems: 10, items: {} } } };
    const mcp = [definition('zoo', 'tag', { inputSchemaJson: undefined, inputSchema: fromJson(ValueSchema, schema) })];
    house.say(THEN);
    await house.peer().turn('go', { mcpTools: { mcpTools: mcp } });
    expect(offered().find(({ name }) => name === 'mcp_zoo_tag')!.parameters).toMatchObject(schema);
    expect(house.requests[0]!.text).toMatch(/"minItems":1[,}]/);
    expect(house.requests[0]!.text).not.toMatch(/"m(in|ax)Items":\d+\.\d/);
  });

  it('P21: has a name of at most 60 characters, since clients hide longer ones', async () => {
    const long = 'a_tool_whose_name_goes_on_and_on_until_no_client_would_show_it_any_more';
    const mcp = [definition('a-server-with-quite-a-name', `${long}_1`), definition('zoo', `${long}_2`)];
    house.say(THEN);
    await house.peer().turn('go', { mcpTools: { mcpTools: mcp } });
    const names = offered().map(({ name }) => name);
    expect(names.filter(name => name.startsWith('mcp_'))).toHaveLength(2);
    expect(names.filter(name => name.length > 60)).toEqual([]);
    const peer = await turn([{ name: names.find(name => name.startsWith('mcp_zoo')), args: {} }], {}, mcp);
    expect(mcpAsked(peer)[0]).toMatchObject({ toolName: `${long}_2`, name: `zoo-${long}_2` });
  });

  it('F32: takes numbers that come as 30000.0 or as strings, and a shell id as number or string', async () => {
    const sent: number[] = [];
    const on: Peer['on'] = {
      shellStreamArgs: exec => {
        sent.push(exec.args.timeout);
        return exec.auto();
      },
    };
    await turn(
      [
        { name: 'Shell', args: '{"command":"ls","block_until_ms":30000.0}' },
        { name: 'Shell', args: '{"command":"ls","block_until_ms":"30000"}' },
        { name: 'Shell', args: '{"command":"ls","block_until_ms":"30000.0"}' },
      ],
      { on },
    );
    expect(sent).toEqual([30_000, 30_000, 30_000]);
    const paths: string[] = [];
    const ended = '---\npid: 9\n---\nworking\n\n---\nexit_code: 0\nelapsed_ms: 7\n---\n';
    const look: Peer['on'] = {
      readArgs: exec => {
        paths.push(exec.args.path);
        return exec.reply({
          case: 'readResult',
          value: { result: { case: 'success', value: { output: { case: 'content', value: ended }, totalLines: 9 } } },
        });
      },
    };
    const wait = [{ shell_id: 41 }, { shell_id: '41' }, { task_id: '41' }];
    await turn(
      wait.map(args => ({ name: 'AwaitShell', args })),
      { on: look },
    );
    expect(paths).toEqual(wait.map(() => '/home/dev/project/.terminals/41.txt'));
    for (const text of results()) expect(text).toContain('exit code 0');
  });

  it('F34: takes todos whose content is an object, and a merge with nothing keeps what there was', async () => {
    house.say(
      {
        calls: [
          { name: 'TodoWrite', args: { merge: false, todos: [{ id: 'a', content: { task: 'greet', who: 'all' } }] } },
        ],
      },
      { calls: [{ name: 'TodoWrite', args: { merge: true, todos: [] } }] },
      THEN,
    );
    const peer = await house.peer().turn('plan');
    expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
    for (const text of results()) expect(text).not.toMatch(/^Error/);
    const todos = peer.state.todos.map(id => fromBinary(TodoItemSchema, peer.blobs.get(blobKey(id))!));
    expect(todos.map(({ id }) => id)).toEqual(['a']);
    expect(JSON.parse(todos[0]!.content)).toEqual({ task: 'greet', who: 'all' });
  });

  const search = (result: object): Peer['on'] => ({
    grepArgs: (exec: AskedExec) =>
      exec.reply({
        case: 'grepResult',
        value: { result: { case: 'success', value: { workspaceResults: { '/home/dev/project': { result } } } } },
      } as never),
  });
  it('F35: gives the model what a search found, in each of its three forms', async () => {
    const matches = [
      { lineNumber: 3, content: 'let found = 1;' },
      { lineNumber: 9, content: 'return found;' },
    ];
    await turn([{ name: 'Grep', args: { pattern: 'found' } }], {
      on: search({ case: 'content', value: { matches: [{ file: 'src/a.ts', matches }], totalMatchedLines: 2 } }),
    });
    for (const words of ['src/a.ts', '3:let found = 1;', '9:return found;']) expect(results()[0]).toContain(words);
    await turn([{ name: 'Grep', args: { pattern: 'found', output_mode: 'files_with_matches' } }], {
      on: search({ case: 'files', value: { files: ['src/a.ts', 'b.ts'], totalFiles: 2 } }),
    });
    for (const words of ['src/a.ts', 'b.ts']) expect(results()[0]).toContain(words);
    await turn([{ name: 'Grep', args: { pattern: 'found', output_mode: 'count' } }], {
      on: search({
        case: 'count',
        value: { counts: [{ file: 'src/a.ts', count: 2 }], totalFiles: 1, totalMatches: 2 },
      }),
    });
    expect(results()[0]).toContain('src/a.ts:2');
    const [card] = cardsOf(
      await turn([{ name: 'Grep', args: { pattern: 'found' } }], {
        on: search({ case: 'content', value: { matches: [{ file: 'src/a.ts', matches }], totalMatchedLines: 2 } }),
      }),
    );
    expect(JSON.stringify(resultOf(card!))).toContain('let found = 1;');
  });

  it('F35: gives the model the problems of files and not only their number', async () => {
    const diagnostics = [
      {
        severity: 1,
        range: { start: { line: 3, column: 1 } },
        message: 'x is not defined',
        source: 'ts',
        code: '2304',
      },
      { severity: 2, range: { start: { line: 9, column: 1 } }, message: 'y is never read' },
    ];
    const on: Peer['on'] = {
      diagnosticsArgs: exec =>
        exec.reply({
          case: 'diagnosticsResult',
          value: { result: { case: 'success', value: { path: exec.args.path, diagnostics, totalDiagnostics: 2 } } },
        } as never),
    };
    const peer = await turn([{ name: 'ReadLints', args: { paths: ['a.ts'] } }], { on });
    expect(results()[0]).toBe(
      '/home/dev/project/a.ts:3 error x is not defined (ts 2304)\n/home/dev/project/a.ts:9 warning y is never read',
    );
    const [card] = cardsOf(peer);
    expect(card!.completed[0]!.toolCall!.tool.case).toBe('readLintsToolCall');
    expect(resultOf(card!)).toMatchObject({
      case: 'success',
      value: { totalDiagnostics: 2, fileDiagnostics: [{ diagnostics: [{ message: 'x is not defined' }, {}] }] },
    });
  });

  it('F52: an image is a placeholder for a model without sight, and one that was pasted is fetched by its id', async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
    const base64 = Buffer.from(png).toString('base64');
    const on: Peer['on'] = {
      readArgs: exec =>
        exec.reply({
          case: 'readResult',
          value: { result: { case: 'success', value: { path: '/p.png', output: { case: 'data', value: png } } } },
        }),
    };
    await turn([{ name: 'Read', args: { path: 'p.png' } }], { model: 'blind-model', on });
    expect(house.requests[1]!.text).not.toMatch(/image_url|base64/);
    expect(results()[0]).toMatch(/image/);
    const blobId = new Uint8Array(await crypto.subtle.digest('SHA-256', png));
    const selectedContext = { selectedImages: [{ dataOrBlobId: { case: 'blobId', value: blobId } }] };
    for (const [model, sees] of [
      ['test-model', true],
      ['blind-model', false],
    ] as const) {
      house.say(THEN);
      const peer = house.peer({ model, blobs: new Map([[blobKey(blobId), png]]) });
      await peer.turn('what is this?', {}, { selectedContext });
      expect(peer.fault).toBeUndefined();
      const { body, text } = house.requests[0]!;
      expect(text.includes(`data:image/png;base64,${base64}`)).toBe(sees);
      if (!sees) expect(textsOf(body, 'user').at(-1)).toMatch(/An image was here/);
    }
  });
});
