import { parametersOf } from './arguments.ts';
import { nativeTools, cardName } from './registry.ts';
import type { Tool } from './tool.ts';

const HEAD = `# Tools

What the model is offered, with the arguments it may give and the card the client draws. This file is written by
\`packages/server/src/tools/docs-table.ts\`; a test compares the two. To write it again:

\`\`\`sh
TANDEM_WRITE_DOCS=1 npx vitest run packages/server/src/tools/docs-table.test.ts
\`\`\`

\`*\` marks what a call must give. Other names are understood and never offered. Tools of MCP servers stand beside these under
names \`mcp_<server>_<tool>\`, with their own arguments and the card \`mcp_tool_call\`, when they are few enough.
`;

interface Property {
  type?: string;
  description?: string;
  enum?: string[];
  items?: { type?: string };
}

/** \`|\` would end a cell. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** docs/tools.md, made from the tools themselves. */
export function toolsPage(): string {
  const overview = nativeTools.map(
    tool => `| ${tool.name} | \`${cardName(tool.card)}\` | ${tool.aliases.map(alias => `\`${alias}\``).join(', ')} |`,
  );
  const sections = nativeTools.map(section);
  return (
    [HEAD, '| tool | card | other names |\n|---|---|---|', ...overview, '', ...sections].join('\n').trimEnd() + '\n'
  );
}

function section(tool: Tool): string {
  const schema = parametersOf(tool) as { properties: Record<string, Property>; required?: string[] };
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties).map(([name, property]) => {
    const aliases = Object.keys(tool.argumentAliases).filter(alias => tool.argumentAliases[alias] === name);
    const others = aliases.map(alias => `\`${alias}\``).join(', ');
    return `| \`${name}\`${required.has(name) ? ' *' : ''} | ${typeOf(property)} | ${cell(property.description ?? '')} | ${others} |`;
  });
  const table = ['| argument | type | meaning | other names |', '|---|---|---|---|', ...rows].join('\n');
  return `## ${tool.name}\n\n${tool.description}\n\n${table}\n`;
}

function typeOf(property: Property): string {
  if (property.enum) return property.enum.map(value => `\`${value}\``).join(', ');
  if (property.type === 'array') return `list of ${property.items?.type ?? 'any'}`;
  return property.type ?? 'any';
}
