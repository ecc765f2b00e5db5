import { create, fromJson } from '@bufbuild/protobuf';
import type { JsonValue, MessageInitShape } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { McpToolDefinitionSchema, RequestContextSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { FLAT_MCP_TOOLS } from './limits.ts';
import { normaliseSchema, schemaProblem } from './mcp-schema.ts';
import { buildMcpTable } from './mcp-table.ts';

const definition = (
  server: string,
  tool: string,
  schema: JsonValue = { type: 'object', properties: {} },
  description = 'a tool',
) =>
  create(McpToolDefinitionSchema, {
    name: `${server}-${tool}`,
    description,
    providerIdentifier: server,
    toolName: tool,
    inputSchema: fromJson(ValueSchema, schema),
  });
const context = (init: MessageInitShape<typeof RequestContextSchema>) => create(RequestContextSchema, init);

describe('buildMcpTable', () => {
  it('merges the carriers and drops what comes twice by server and tool', () => {
    const table = buildMcpTable(
      [[definition('zoo', 'feed', {}, 'first')], [definition('zoo', 'feed', {}, 'second'), definition('zoo', 'wash')]],
      context({ tools: [definition('zoo', 'wash'), definition('farm', 'feed')] }),
    );
    expect(table.flat.map(flat => flat.name)).toEqual(['mcp_zoo_feed', 'mcp_zoo_wash', 'mcp_farm_feed']);
    expect(table.find('zoo', 'feed')).toMatchObject({
      description: 'first',
      advertisedName: 'zoo-feed',
      server: 'zoo',
      toolName: 'feed',
    });
  });

  it('keeps servers of one name apart by their identifiers', () => {
    const table = buildMcpTable(
      [[definition('ws1-db', 'query'), definition('ws2-db', 'query')]],
      context({
        mcpMetaToolOptions: {
          mcpDescriptors: [
            { serverName: 'db', serverIdentifier: 'ws1-db', serverUseInstructions: 'be kind' },
            { serverName: 'db', serverIdentifier: 'ws2-db' },
          ],
        },
      }),
    );
    expect(table.servers.map(({ identifier, name, instructions }) => [identifier, name, instructions])).toEqual([
      ['ws1-db', 'db', 'be kind'],
      ['ws2-db', 'db', ''],
    ]);
    expect(table.findServer('db')).toBeUndefined();
    expect(table.findServer('ws1-db')?.tools).toHaveLength(1);
  });

  it('finds a server by the name that only it has, and a tool by its advertised name', () => {
    const table = buildMcpTable(
      [[definition('id-1', 'query')]],
      context({ mcpInstructions: [{ serverIdentifier: 'id-1', serverName: 'Database', instructions: 'x' }] }),
    );
    expect(table.findServer('database')?.identifier).toBe('id-1');
    expect(table.find('Database', 'id-1-query')?.toolName).toBe('query');
    expect(table.find('Database', 'nothing')).toBeUndefined();
  });

  it('takes a descriptor whose tools are named by the server name for the same server', () => {
    const table = buildMcpTable(
      [[definition('zoo', 'feed')]],
      context({
        mcpMetaToolOptions: {
          mcpDescriptors: [{ serverName: 'zoo', serverIdentifier: 'project-0-zoo', tools: [{ toolName: 'feed' }] }],
        },
      }),
    );
    expect(table.flat.map(flat => flat.name)).toEqual(['mcp_zoo_feed']);
  });

  it('knows tools that only a descriptor tells of', () => {
    const table = buildMcpTable(
      [],
      context({
        mcpFileSystemOptions: {
          mcpDescriptors: [
            {
              serverIdentifier: 'zoo',
              tools: [
                { toolName: 'feed', description: 'feeds', inputSchemaJson: '{"required":["a"],"properties":{"a":{}}}' },
              ],
            },
          ],
        },
      }),
    );
    expect(table.find('zoo', 'feed')).toEqual({
      advertisedName: 'zoo-feed',
      server: 'zoo',
      toolName: 'feed',
      description: 'feeds',
      parameters: { type: 'object', properties: { a: {} }, required: ['a'] },
    });
  });

  it('gives every tool a name that providers take, the same in every run', () => {
    const long = 'a_tool_with_a_name_that_is_longer_than_any_provider_would_ever_take_1';
    const definitions = [long, `${long.slice(0, -1)}2`, 'do it.now/ü', 'do_it_now__', 'plain'].map(tool =>
      definition('some-server', tool),
    );
    const names = buildMcpTable([definitions]).flat.map(flat => flat.name);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,60}$/);
    expect(new Set(names).size).toBe(5);
    expect(names[0]).toBe('mcp_some-server_a_tool_with_a_name_that_is_longer_t_a64849ab');
    expect(names[4]).toBe('mcp_some-server_plain');
    expect(buildMcpTable([[definitions[0]!]]).flat[0]?.name).toBe(names[0]);
  });

  it('tells names apart that would be joined alike', () => {
    const names = buildMcpTable([[definition('a_b', 'c'), definition('a', 'b_c')]]).flat.map(flat => flat.name);
    expect(new Set(names).size).toBe(2);
  });

  it('offers none flat when they are too many, by count or by size', () => {
    const many = Array.from({ length: FLAT_MCP_TOOLS + 1 }, (_, at) => definition('zoo', `t${at}`));
    expect(buildMcpTable([many]).flat).toEqual([]);
    expect(buildMcpTable([many]).servers[0]?.tools).toHaveLength(FLAT_MCP_TOOLS + 1);
    expect(buildMcpTable([many.slice(1)]).flat).toHaveLength(FLAT_MCP_TOOLS);
    expect(buildMcpTable([[definition('zoo', 'large', { description: 'x'.repeat(60_000) })]]).flat).toEqual([]);
  });

  it('prefers input_schema_json, and falls back when it cannot be read', () => {
    const both = (inputSchemaJson: string) =>
      create(McpToolDefinitionSchema, {
        ...definition('zoo', 'x', { type: 'object', properties: { b: {} } }),
        inputSchemaJson,
      });
    expect(buildMcpTable([[both('{"properties":{"a":{}}}')]]).find('zoo', 'x')?.parameters['properties']).toEqual({
      a: {},
    });
    expect(buildMcpTable([[both('not JSON')]]).find('zoo', 'x')?.parameters['properties']).toEqual({ b: {} });
  });

  it('learns tools later without changing what is offered flat', () => {
    const table = buildMcpTable([[definition('zoo', 'feed')]]);
    table.learn([definition('', 'wash')], { identifier: 'farm', name: 'Farm', instructions: 'gently' });
    expect(table.find('farm', 'wash')?.server).toBe('farm');
    expect(table.findServer('Farm')).toMatchObject({ identifier: 'farm', instructions: 'gently' });
    expect(table.flat).toHaveLength(1);
  });
});

describe('normaliseSchema', () => {
  it.each([
    [undefined, { type: 'object', properties: {} }],
    [{}, { type: 'object', properties: {} }],
    ['nonsense', { type: 'object', properties: {} }],
    [{ type: 'string' }, { type: 'object', properties: {} }],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'x',
        type: 'object',
        properties: { $id: { type: 'string' } },
        required: ['$id', 'gone'],
      },
      { type: 'object', properties: { $id: { type: 'string' } }, required: ['$id'] },
    ],
    [
      {
        type: 'object',
        properties: {
          l: { type: 'array' },
          m: { type: 'object', properties: { $schema: { $comment: 'c', type: 'null' } } },
        },
      },
      {
        type: 'object',
        properties: {
          l: { type: 'array', items: {} },
          m: { type: 'object', properties: { $schema: { type: 'null' } } },
        },
      },
    ],
    [
      {
        anyOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: {} } }],
        allOf: [{ properties: { c: {} }, required: ['c'] }],
      },
      { type: 'object', properties: { c: {}, a: { type: 'string' }, b: {} }, required: ['c'] },
    ],
    [
      { properties: { a: true }, additionalProperties: false },
      { properties: { a: true }, additionalProperties: false, type: 'object' },
    ],
  ])('makes %j into %j', (schema, wanted) => {
    expect(normaliseSchema(schema)).toEqual(wanted);
  });

  it('keeps integers integers, also when they came as doubles', () => {
    const schema = JSON.parse(
      '{"properties":{"n":{"type":"integer","minimum":1.0,"maximum":10.0},"l":{"type":"array","items":{"type":"string"},"minItems":1.0}}}',
    );
    const text = JSON.stringify(normaliseSchema(schema));
    expect(text).toContain('"minimum":1,"maximum":10');
    expect(text).toContain('"minItems":1');
    const value = buildMcpTable([[definition('zoo', 'n', schema)]]).find('zoo', 'n');
    expect(JSON.stringify(value?.parameters)).toBe(text);
  });

  it('comes to an end on a very deep schema', () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 5000; level += 1) deep = { type: 'object', properties: { next: deep } };
    expect(JSON.stringify(normaliseSchema(deep)).length).toBeLessThan(5000);
  });
});

describe('schemaProblem', () => {
  const schema = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      n: { type: 'integer' },
      mode: { enum: ['a', 'b'] },
      list: { type: 'array', items: { type: 'number' } },
      any: { type: ['string', 'null'] },
    },
    required: ['id'],
  };
  it.each([
    [{ id: '00123', n: 3, mode: 'a', list: [1.5], any: null, more: {} }, undefined],
    [{}, 'arguments: "id" is missing'],
    [{ id: 1 }, 'arguments.id: expected string, found number'],
    [{ id: '', n: 1.5 }, 'arguments.n: expected integer, found number'],
    [{ id: '', mode: 'c' }, 'arguments.mode: expected one of "a", "b", found "c"'],
    [{ id: '', list: [1, '2'] }, 'arguments.list[1]: expected number, found string'],
    [{ id: '', any: 1 }, 'arguments.any: expected string or null, found number'],
    [[], 'arguments: expected object, found array'],
  ])('says of %j: %s', (value, problem) => {
    expect(schemaProblem(value, schema)).toBe(problem);
  });
});
