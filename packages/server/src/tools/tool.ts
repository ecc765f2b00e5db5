import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RequestContext, TodoItem, ToolCall, ToolCallDeltaSchema } from '@tandem/protocol/agent';
import type { ImagePart, TextPart } from '@tandem/protocol/message';
import type { z } from 'zod';
import type { Exec } from '../bridge/exec.ts';
import type { McpTable } from './mcp-table.ts';

/** The oneof of a tool card: `{ case: 'readToolCall', value: { args, result } }`. */
export type Card = ToolCall['tool'];
/** The card's field name, `read_tool_call` in camel case. */
export type CardCase = NonNullable<Card['case']>;

export type { Exec } from '../bridge/exec.ts';

/** What is known of the run when a tool is offered or runs. */
export interface ToolFacts {
  /** What the client told of its workspace; undefined when it would not say. */
  readonly context: RequestContext | undefined;
  /** Absolute workspace folders, the first is where commands start. */
  readonly workspacePaths: readonly string[];
  /** Where terminal files of background commands are; empty when unknown. */
  readonly terminalsFolder: string;
  readonly mcp: McpTable;
  /** Whether the model takes images. */
  readonly vision: boolean;
}

/** What one running tool call is given. */
export interface ToolContext {
  readonly callId: string;
  readonly facts: ToolFacts;
  readonly exec: Exec;
  /** Aborts when the run is cancelled or its stream is gone. */
  readonly signal: AbortSignal;
  /** Sends a `tool_call_delta` to the card (shell output while it runs). */
  delta(delta: MessageInitShape<typeof ToolCallDeltaSchema>): void;
  /** The todo list as the conversation has it now (R52). */
  readonly todos: readonly TodoItem[];
  setTodos(todos: TodoItem[]): void;
  /** Milliseconds since the epoch, on the run's clock. */
  now(): number;
  /** Waits on the run's clock; rejects when the call is aborted. */
  pause(ms: number): Promise<void>;
}

/** What a finished tool call leaves: the card for the client, the text (or parts) for the model. */
export interface ToolOutcome {
  card: Card;
  content: string | (TextPart | ImagePart)[];
  isError: boolean;
}

/**
 * One tool the model is offered. One file a tool, all of this shape.
 *
 * `schema` describes and checks the arguments (R57); numbers in strings are coerced, aliases renamed before the check.
 * `open` is the card as it starts; `close` gives the same card an error result, for calls that never ran or broke (R21).
 */
export interface Tool<Arguments = Record<string, unknown>> {
  readonly name: string;
  /** Other names models use for it (R62). */
  readonly aliases: readonly string[];
  /** Other names models use for its arguments: `{ file_path: 'path' }`. */
  readonly argumentAliases: Readonly<Record<string, string>>;
  readonly card: CardCase;
  readonly description: string;
  readonly schema: z.ZodType<Arguments>;
  /** JSON schema for the provider when it does not come from `schema` (MCP tools). */
  readonly parameters?: Record<string, unknown>;
  /** Whether it works in this run (R63); absent means always. */
  offered?(facts: ToolFacts): boolean;
  open(args: Partial<Arguments>, context: { callId: string; facts: ToolFacts }): Card;
  close(args: Partial<Arguments>, message: string, context: { callId: string; facts: ToolFacts }): Card;
  execute(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

export { ExecFailure } from '../bridge/exec-failure.ts';
export type { ExecFailureReason } from '../bridge/exec-failure.ts';
