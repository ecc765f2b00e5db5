import { create, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import {
  DeleteResultSchema,
  DiagnosticsResultSchema,
  GrepResultSchema,
  LsResultSchema,
  McpResultSchema,
  McpStateExecResultSchema,
  ReadResultSchema,
  ShellStreamSchema,
  ToolCallDeltaSchema,
  ToolCallSchema,
  WriteResultSchema,
} from '@tandem/protocol/agent';
import type { ShellStream, TodoItem, ToolCall, ToolCallDelta } from '@tandem/protocol/agent';
import { buildMcpTable } from '../../src/tools/mcp-table.ts';
import { ExecFailure } from '../../src/tools/tool.ts';
import type { Card, CardCase, Exec, Tool, ToolContext, ToolFacts, ToolOutcome } from '../../src/tools/tool.ts';

type Answer<Schema extends DescMessage> =
  MessageInitShape<Schema> extends { result?: infer Result } ? Result | ExecFailure : never;
/** An answer, or how to find it from the arguments. */
type Scripted<Schema extends DescMessage> = Answer<Schema> | ((args: any) => Answer<Schema>);
type ShellEvent = MessageInitShape<typeof ShellStreamSchema>['event'];

/** What the client answers to each exec; what is not here is not available. */
export interface Script {
  read?: Scripted<typeof ReadResultSchema>;
  write?: Scripted<typeof WriteResultSchema>;
  delete?: Scripted<typeof DeleteResultSchema>;
  grep?: Scripted<typeof GrepResultSchema>;
  ls?: Scripted<typeof LsResultSchema>;
  diagnostics?: Scripted<typeof DiagnosticsResultSchema>;
  mcp?: Scripted<typeof McpResultSchema>;
  mcpState?: Scripted<typeof McpStateExecResultSchema>;
  /** All events; the last one ends the stream, or an ExecFailure does. */
  shell?: (ShellEvent | ExecFailure)[];
}

export interface ExecCall {
  kind: keyof Exec;
  args: any;
}

/** A tool call's surroundings with a client that answers from a script and a clock that moves only in `pause`. */
export interface ScriptedCall {
  context: ToolContext;
  calls: ExecCall[];
  deltas: ToolCallDelta[];
  pauses: number[];
  todos: TodoItem[];
}

export const FACTS: ToolFacts = {
  context: undefined,
  workspacePaths: ['/ws'],
  terminalsFolder: '/terminals',
  mcp: buildMcpTable([]),
  vision: false,
};

export function scriptedCall(script: Script, facts: Partial<ToolFacts> = {}, todos: TodoItem[] = []): ScriptedCall {
  const calls: ExecCall[] = [];
  const deltas: ToolCallDelta[] = [];
  const pauses: number[] = [];
  let time = 1_000_000;

  async function answer<Schema extends DescMessage>(
    kind: keyof Exec,
    schema: Schema,
    args: unknown,
    scripted: Scripted<Schema> | undefined,
  ): Promise<MessageShape<Schema>> {
    calls.push({ kind, args });
    if (scripted === undefined) throw new ExecFailure('unavailable', `No handler found for ${kind}`);
    await Promise.resolve();
    const result: unknown = typeof scripted === 'function' ? (scripted as (args: unknown) => unknown)(args) : scripted;
    if (result instanceof ExecFailure) throw result;
    return create(schema, { result } as unknown as MessageInitShape<Schema>);
  }

  const exec: Exec = {
    read: args => answer('read', ReadResultSchema, args, script.read),
    write: args => answer('write', WriteResultSchema, args, script.write),
    delete: args => answer('delete', DeleteResultSchema, args, script.delete),
    grep: args => answer('grep', GrepResultSchema, args, script.grep),
    ls: args => answer('ls', LsResultSchema, args, script.ls),
    diagnostics: args => answer('diagnostics', DiagnosticsResultSchema, args, script.diagnostics),
    mcp: args => answer('mcp', McpResultSchema, args, script.mcp),
    mcpState: args => answer('mcpState', McpStateExecResultSchema, args, script.mcpState),
    async shellStream(args, onEvent) {
      calls.push({ kind: 'shellStream', args });
      if (!script.shell) throw new ExecFailure('unavailable', 'No handler found for shellStream');
      let last: ShellStream['event'] = { case: undefined };
      for (const event of script.shell) {
        await Promise.resolve();
        if (event instanceof ExecFailure) throw event;
        last = create(ShellStreamSchema, { event }).event;
        onEvent(last);
      }
      return last;
    },
  };
  const call: ScriptedCall = {
    calls,
    deltas,
    pauses,
    todos,
    context: {
      callId: 'call-1',
      facts: { ...FACTS, ...facts },
      exec,
      signal: new AbortController().signal,
      delta: delta => void deltas.push(create(ToolCallDeltaSchema, delta)),
      get todos() {
        return call.todos;
      },
      setTodos: list => {
        call.todos = list;
      },
      now: () => time,
      pause: ms => {
        pauses.push(ms);
        time += ms;
        return Promise.resolve();
      },
    },
  };
  return call;
}

/** Runs a tool and checks what every outcome must be: a card of the tool's kind, with args and a result, that fits the wire. */
export async function runTool<Arguments>(
  tool: Tool<Arguments>,
  args: Arguments,
  call: ScriptedCall,
): Promise<ToolOutcome & { text: string; result: any; args: any }> {
  const outcome = await tool.execute(args, call.context);
  const { args: shown, result } = openCard(outcome.card, tool.card);
  if (!result) throw new Error(`the card of ${tool.name} has no result`);
  const text =
    typeof outcome.content === 'string'
      ? outcome.content
      : outcome.content.map(part => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n');
  return { ...outcome, text, args: shown, result: result.result };
}

/** The args and result of a card, once it has gone over the wire. */
export function openCard(card: Card, kind: CardCase): { args: any; result: any } {
  if (card.case !== kind) throw new Error(`the card is a ${String(card.case)}, not a ${kind}`);
  const message: ToolCall = create(ToolCallSchema, { tool: card });
  toBinary(ToolCallSchema, message); // throws on a value that does not fit its field
  return card.value as unknown as { args: any; result: any };
}
