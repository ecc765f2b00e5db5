import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { AgentServerMessageSchema, McpToolDefinitionSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { scriptedCall } from '../../test/tools/scripted-exec.ts';
import { parametersOf, parseArguments } from './arguments.ts';
import { grepTool } from './grep.ts';
import { lsTool } from './ls.ts';
import { flatMcpTools } from './mcp-flat.ts';
import { buildMcpTable } from './mcp-table.ts';
import { readTool } from './read.ts';
import { nativeTools } from './registry.ts';
import { shellTool } from './shell.ts';
import { todoWriteTool } from './todo-write.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

const [bareMcpTool] = flatMcpTools(
  buildMcpTable([[create(McpToolDefinitionSchema, { providerIdentifier: 'zoo', toolName: 'x' })]]),
) as [Tool];
const parse = (tool: Tool, args: unknown) =>
  parseArguments(tool, typeof args === 'string' ? args : JSON.stringify(args));

describe('parseArguments', () => {
  it.each(['', '  \n', 'null', '{}', '"{}"'])('takes %j as no arguments', raw => {
    expect(parseArguments(bareMcpTool, raw)).toEqual({ ok: true, args: {} });
  });

  it.each([
    [shellTool, { command: 'x', block_until_ms: '30000' }, { command: 'x', block_until_ms: 30000 }],
    [shellTool, { command: 'x', block_until_ms: '30000.0' }, { command: 'x', block_until_ms: 30000 }],
    [shellTool, '{"command":"x","block_until_ms":30000.0}', { command: 'x', block_until_ms: 30000 }],
    [shellTool, { cmd: 'x', cwd: '/a', description: null }, { command: 'x', working_directory: '/a' }],
    [readTool, { file_path: 'a', offset: '-5', limit: null }, { path: 'a', offset: -5 }],
    [readTool, { path: 'a', file_path: 'b', unknown: 1 }, { path: 'a' }],
    [
      grepTool,
      { pattern: 'x', '-i': 'True', output_mode: 'filesWithMatches' },
      { pattern: 'x', '-i': true, output_mode: 'files_with_matches' },
    ],
    [grepTool, { query: 7 }, { pattern: '7' }],
    [lsTool, { path: '.', ignore: '["a"]' }, { path: '.', ignore: ['a'] }],
    [lsTool, { path: '.', ignore: 'a' }, { path: '.', ignore: ['a'] }],
    [writeTool, { path: 'a.json', content: { a: 1 } }, { path: 'a.json', contents: '{\n  "a": 1\n}' }],
    [
      todoWriteTool,
      { merge: 'false', todos: '[{"id":1,"content":{"do":"it"},"status":"in-progress"}]' },
      { merge: false, todos: [{ id: '1', content: '{\n  "do": "it"\n}', status: 'in_progress' }] },
    ],
  ] as [Tool, unknown, object][])('brings the arguments of %o from %j to %j', (tool, raw, wanted) => {
    expect(parse(tool, raw)).toEqual({ ok: true, args: wanted });
  });

  it('answers text that is no JSON with the error and the schema', () => {
    const parsed = parse(readTool, '{"path": "a.txt", oops');
    if (parsed.ok) throw new Error('it was taken');
    expect(parsed.args).toEqual({});
    expect(parsed.message).toMatch(
      /^Invalid arguments for Read; the call did not run\.\nThe arguments are not valid JSON: /,
    );
    expect(parsed.message).toContain(JSON.stringify(parametersOf(readTool)));
  });

  it('answers arguments that break the schema with what is wrong, and keeps those that are right', () => {
    const parsed = parse(readTool, { path: 'a', offset: 'soon', limit: 0 });
    if (parsed.ok) throw new Error('it was taken');
    expect(parsed.args).toEqual({ path: 'a' });
    expect(parsed.message).toMatch(/→ at offset/);
    expect(parsed.message).toMatch(/→ at limit/);
    expect(parse(readTool, {})).toMatchObject({ ok: false, args: {}, message: expect.stringContaining('path') });
  });

  it.each(['[1]', '7', 'true'])('refuses %s, which is no object', raw => {
    expect(parse(readTool, raw)).toMatchObject({
      ok: false,
      message: expect.stringContaining('must be a JSON object'),
    });
  });

  it('takes arguments as deep as the wire carries, and refuses deeper ones', () => {
    const nested = (levels: number) => '{"k":'.repeat(levels) + '1' + '}'.repeat(levels);
    const parsed = parseArguments(bareMcpTool, nested(30));
    const card = bareMcpTool.open(parsed.args, scriptedCall({}).context);
    const update = { case: 'toolCallStarted' as const, value: { toolCall: { tool: card } } };
    const message = create(AgentServerMessageSchema, {
      message: { case: 'interactionUpdate', value: { message: update } },
    });
    fromBinary(AgentServerMessageSchema, toBinary(AgentServerMessageSchema, message));
    expect(parseArguments(bareMcpTool, nested(31))).toMatchObject({
      ok: false,
      message: expect.stringContaining('30 levels'),
    });
    expect(parseArguments(bareMcpTool, nested(100_000)).ok).toBe(false);
  });

  it('refuses numbers that do not fit their field', () => {
    expect(parse(readTool, { path: 'a', offset: 3e9 }).ok).toBe(false);
    expect(parse(shellTool, { command: 'a', block_until_ms: -1 }).ok).toBe(false);
  });

  it('leaves refused calls with arguments that every card can show', () => {
    const { context } = scriptedCall({});
    for (const tool of nativeTools) {
      const wrong = Object.fromEntries(
        Object.keys(parametersOf(tool)['properties'] as object).map(name => [name, [{ no: 1 }]]),
      );
      const parsed = parseArguments(tool, JSON.stringify({ ...wrong, path: 7.5e300 }));
      const card = tool.close(parsed.args, 'refused', context);
      expect(card.case).toBe(tool.card);
    }
  });
});

describe('parametersOf', () => {
  it('describes every argument and says nothing that is noise', () => {
    for (const tool of nativeTools) {
      const schema = parametersOf(tool) as { type: string; properties: Record<string, { description?: string }> };
      expect(schema.type).toBe('object');
      for (const [name, property] of Object.entries(schema.properties)) {
        expect(property.description, `${tool.name}.${name}`).toBeTruthy();
      }
      expect(JSON.stringify(schema)).not.toMatch(/\$schema|2147483647|additionalProperties":false/);
    }
  });
});
