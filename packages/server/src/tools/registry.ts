import { parametersOf, parseArguments } from './arguments.ts';
import type { ParsedArguments } from './arguments.ts';
import { awaitShellTool } from './await-shell.ts';
import { callMcpTool } from './call-mcp-tool.ts';
import { deleteTool } from './delete.ts';
import { getMcpToolsTool } from './get-mcp-tools.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { lsTool } from './ls.ts';
import { flatMcpTools } from './mcp-flat.ts';
import { readLintsTool } from './read-lints.ts';
import { readTool } from './read.ts';
import { shellTool } from './shell.ts';
import { strReplaceTool } from './str-replace.ts';
import { todoWriteTool } from './todo-write.ts';
import type { CardCase, Tool, ToolFacts } from './tool.ts';
import { writeTool } from './write.ts';

/** The tools of our own that every client can do, in the order the model sees them. */
const everywhere: readonly Tool[] = [
  readTool,
  writeTool,
  strReplaceTool,
  deleteTool,
  globTool,
  grepTool,
  lsTool,
  shellTool,
  awaitShellTool,
  todoWriteTool,
  getMcpToolsTool,
  callMcpTool,
];
/** Those that not every client can do. */
const somewhere: readonly Tool[] = [readLintsTool];

/** The tools of our own. */
export const nativeTools: readonly Tool[] = [...everywhere, ...somewhere];

/** A tool as a provider is told of it (R61). */
export interface OfferedDefinition {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** Which cards a client allows, by name (`read_tool_call`); both lists of R9. An empty `allowed` means no tools. */
export interface ToolChoice {
  allowed?: ReadonlySet<string> | undefined;
  excluded?: ReadonlySet<string> | undefined;
}

/** The tools of one run. */
export interface OfferedTools {
  readonly definitions: OfferedDefinition[];
  readonly names: string[];
  /** An offered tool by its name or by another name models use for it (R62). */
  find(name: string): Tool | undefined;
  parse(tool: Tool, rawArgs: string): ParsedArguments;
  /** What the model reads of a call to any other name (R62). Such a call has no card: no kind of card fits it. */
  unknownToolMessage(name: string): string;
}

/** The name of a card as clients write it in headers: `read_tool_call`. */
export function cardName(card: CardCase): string {
  return card.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

/**
 * Chooses what the model is offered: what works in this run (R63), within what the client allows (R9). What may come back as refused
 * stands last, behind the tools that the workspace brings along.
 */
export function offerTools(facts: ToolFacts, choice: ToolChoice = {}): OfferedTools {
  const tools = [...everywhere, ...flatMcpTools(facts.mcp), ...somewhere].filter(tool => {
    const card = cardName(tool.card);
    if (choice.allowed && !choice.allowed.has(card)) return false;
    if (choice.excluded?.has(card)) return false;
    return tool.offered?.(facts) ?? true;
  });
  const names = tools.map(tool => tool.name);
  return {
    names,
    definitions: tools.map(tool => ({
      name: tool.name,
      description: tool.description,
      parameters: parametersOf(tool),
    })),
    find: finderOf(tools),
    parse: parseArguments,
    unknownToolMessage: name => unknownToolMessage(name, names),
  };
}

function unknownToolMessage(name: string, offered: readonly string[]): string {
  const named = JSON.stringify(name.slice(0, 100));
  if (offered.length === 0) return `There is no tool ${named}. No tools are offered in this run; answer in text.`;
  return `There is no tool ${named}. The tools of this run are: ${offered.join(', ')}.`;
}

/** Models write one name in many ways: `read_file`, `ReadFile`, `functions.Read`. */
const plainName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function finderOf(tools: readonly Tool[]): (name: string) => Tool | undefined {
  const exact = new Map(tools.map(tool => [tool.name, tool]));
  const plain = new Map<string, Tool>();
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) {
      if (!plain.has(plainName(name))) plain.set(plainName(name), tool);
    }
  }
  return name => {
    const own = name.trim().replace(/^(functions|tools|default_api)[.:]/, '');
    return exact.get(own) ?? plain.get(plainName(own));
  };
}
