import { create } from '@bufbuild/protobuf';
import { McpToolDefinitionSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { FACTS } from '../../test/tools/scripted-exec.ts';
import { buildMcpTable } from './mcp-table.ts';
import { cardName, nativeTools, offerTools } from './registry.ts';

const zoo = create(McpToolDefinitionSchema, {
  name: 'zoo-feed',
  providerIdentifier: 'zoo',
  toolName: 'feed',
  description: 'feeds',
});
const withZoo = { ...FACTS, mcp: buildMcpTable([[zoo]]) };

describe('offerTools', () => {
  it('offers what works, in a fixed order', () => {
    expect(offerTools(FACTS).names).toEqual([
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
      'ReadLints',
    ]);
    expect(offerTools({ ...FACTS, terminalsFolder: '' }).names).not.toContain('AwaitShell');
    expect(offerTools(withZoo).names.slice(-4)).toEqual(['GetMcpTools', 'CallMcpTool', 'mcp_zoo_feed', 'ReadLints']);
  });

  it('keeps to the cards the client allows', () => {
    const allowed = new Set(['read_tool_call', 'edit_tool_call', 'mcp_tool_call']);
    expect(offerTools(withZoo, { allowed }).names).toEqual([
      'Read',
      'Write',
      'StrReplace',
      'CallMcpTool',
      'mcp_zoo_feed',
    ]);
    expect(offerTools(withZoo, { allowed: new Set() }).names).toEqual([]);
    const excluded = new Set(['shell_tool_call', 'delete_tool_call', 'mcp_tool_call', 'update_todos_tool_call']);
    expect(offerTools(withZoo, { excluded }).names).toEqual([
      'Read',
      'Write',
      'StrReplace',
      'Glob',
      'Grep',
      'Ls',
      'AwaitShell',
      'GetMcpTools',
      'ReadLints',
    ]);
    expect(offerTools(FACTS, { allowed, excluded: new Set(['edit_tool_call']) }).names).toEqual(['Read']);
  });

  it('defines every tool with a name providers take, a description and an object schema', () => {
    const { definitions, names } = offerTools(withZoo);
    expect(definitions.map(definition => definition.name)).toEqual(names);
    for (const { name, description, parameters } of definitions) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(description).not.toBe('');
      expect(parameters['type']).toBe('object');
    }
  });

  it('finds tools by the names models use, but only offered ones', () => {
    const offered = offerTools(withZoo);
    expect(['Bash', 'bash', 'run_terminal_cmd', 'functions.Shell'].map(name => offered.find(name)?.name)).toEqual(
      Array(4).fill('Shell'),
    );
    expect(['read_file', 'ReadFile', 'READ', ' Read '].map(name => offered.find(name)?.name)).toEqual(
      Array(4).fill('Read'),
    );
    expect(['str_replace', 'edit_file', 'mcp_zoo_feed', 'MCP-zoo-feed'].map(name => offered.find(name)?.name)).toEqual([
      'StrReplace',
      'StrReplace',
      'mcp_zoo_feed',
      'mcp_zoo_feed',
    ]);
    expect(offered.find('FlyToTheMoon')).toBeUndefined();
    expect(offerTools(FACTS, { excluded: new Set(['shell_tool_call']) }).find('Bash')).toBeUndefined();
  });

  it('gives no name to two tools', () => {
    const names = nativeTools.flatMap(tool => [
      ...new Set([tool.name, ...tool.aliases].map(name => name.toLowerCase().replaceAll('_', ''))),
    ]);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('renames arguments only to arguments that exist', () => {
    for (const tool of nativeTools) {
      const properties = offerTools(withZoo).definitions.find(definition => definition.name === tool.name)?.parameters[
        'properties'
      ];
      for (const target of Object.values(tool.argumentAliases)) expect(properties, tool.name).toHaveProperty([target]);
      for (const alias of Object.keys(tool.argumentAliases)) expect(properties, tool.name).not.toHaveProperty([alias]);
    }
  });
});

describe('a tool that was not offered', () => {
  it('is answered with the valid names', () => {
    const offered = offerTools(FACTS);
    expect(offered.unknownToolMessage('FlyToTheMoon')).toBe(
      `There is no tool "FlyToTheMoon". The tools of this run are: ${offered.names.join(', ')}.`,
    );
  });

  it('says so when no tools are offered at all', () => {
    expect(offerTools(FACTS, { allowed: new Set() }).unknownToolMessage('Read')).toMatch(
      /No tools are offered in this run/,
    );
  });
});

it('names cards as clients do', () => {
  expect(nativeTools.map(tool => cardName(tool.card))).toEqual([
    'read_tool_call',
    'edit_tool_call',
    'edit_tool_call',
    'delete_tool_call',
    'glob_tool_call',
    'grep_tool_call',
    'ls_tool_call',
    'shell_tool_call',
    'await_tool_call',
    'update_todos_tool_call',
    'get_mcp_tools_tool_call',
    'mcp_tool_call',
    'read_lints_tool_call',
  ]);
});
