import { create } from '@bufbuild/protobuf';
import { Fault } from '@tandem/protocol';
import { ToolCallDeltaSchema, ToolCallSchema } from '@tandem/protocol/agent';
import type { ToolCall, TodoItem } from '@tandem/protocol/agent';
import { toolCallsOf } from '@tandem/protocol/message';
import type { ModelMessage, ToolResultPart } from '@tandem/protocol/message';
import type { ExecBridge, ExecCall } from '../bridge/exec.ts';
import { pause } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { PendingBatch } from '../conversation/pending-calls.ts';
import type { Log } from '../observe/log.ts';
import type { OfferedTools } from '../tools/registry.ts';
import type { Card, Tool, ToolContext, ToolFacts } from '../tools/tool.ts';
import type { Cards } from './cards.ts';

/** One call of a round: what is to run, or why it must not. */
export interface RoundCall {
  readonly callId: string;
  /** The name the model used. */
  readonly name: string;
  /** Undefined when no such tool was offered (R62): such a call has no card. */
  readonly tool: Tool | undefined;
  readonly args: Record<string, unknown>;
  /** Set when the call must not run: the model reads this as its result (R57). */
  readonly refusal?: string;
  readonly known?: KnownResult;
}

/** A result that is known without running anything. */
export interface KnownResult {
  readonly card: Card;
  readonly content: unknown;
  readonly isError: boolean;
}

/** What the tools of a run share. */
export interface ToolServices {
  readonly facts: ToolFacts;
  readonly exec: ExecBridge;
  readonly cards: Cards;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  todos: TodoItem[];
}

export interface RoundResult {
  /** The tool message with all results, in the order of the calls (R46). */
  readonly message: ModelMessage;
  /** The finished cards, by call id. */
  readonly cards: ReadonlyMap<string, ToolCall>;
}

/** Finds the tool of a call and reads its arguments; what is wrong with either is its refusal (R57, R62). */
export function readCall(tools: OfferedTools, callId: string, name: string, raw: string): RoundCall {
  const tool = tools.find(name);
  if (!tool) return { callId, name, tool, args: {}, refusal: tools.unknownToolMessage(name) };
  const parsed = tools.parse(tool, raw);
  return parsed.ok
    ? { callId, name, tool, args: parsed.args }
    : { callId, name, tool, args: parsed.args, refusal: parsed.message };
}

/** The calls that a checkpoint left open; one that was refused stays refused. */
export function pendingCalls(tools: OfferedTools, { message, refusals = {} }: PendingBatch): RoundCall[] {
  return toolCallsOf(message).map(({ toolCallId, toolName, args }) => {
    const call = readCall(tools, toolCallId, toolName, JSON.stringify(args));
    const refusal = refusals[toolCallId];
    return refusal === undefined ? call : { ...call, refusal };
  });
}

/** Runs the calls of one model call in parallel; every call has a result, whatever happens to it (R21, R29). */
export async function runRound(
  calls: readonly RoundCall[],
  services: ToolServices,
  from: ExecCall['from'],
): Promise<RoundResult> {
  const cards = new Map<string, ToolCall>();
  const results = await Promise.all(
    calls.map(async call => {
      const { result, card } = await runCall(call, services, from);
      if (card) cards.set(call.callId, card);
      return result;
    }),
  );
  return { message: { role: 'tool', content: results }, cards };
}

async function runCall(
  call: RoundCall,
  services: ToolServices,
  from: ExecCall['from'],
): Promise<{ result: ToolResultPart; card: ToolCall | undefined }> {
  const { callId, name, tool, args } = call;
  const { facts, cards, log } = services;
  const resultOf = (content: unknown, isError: boolean): ToolResultPart => ({
    type: 'tool-result',
    toolCallId: callId,
    toolName: name,
    result: content,
    ...(isError ? { isError } : {}),
  });
  /** A call of an earlier run has no card here: the client closed it then. The history still gets one. */
  const complete = (card: Card) =>
    from === 'ledger' ? create(ToolCallSchema, { tool: card, toolCallId: callId }) : cards.complete(callId, card);
  const refuse = (message: string) => ({
    result: resultOf(message, true),
    card: tool && complete(tool.close(args, message, { callId, facts })),
  });
  if (call.known) return { result: resultOf(call.known.content, call.known.isError), card: complete(call.known.card) };
  if (!tool || call.refusal !== undefined) return refuse(call.refusal ?? `${name} is not a tool of this run.`);
  try {
    const outcome = await tool.execute(args, toolContext(call, services, from));
    return { result: resultOf(outcome.content, outcome.isError), card: complete(outcome.card) };
  } catch (error) {
    if (error instanceof Fault || services.signal.aborted) throw error;
    log.error(
      { tool: tool.name, error: String(error instanceof Error ? error.stack : error) },
      'a tool failed by a fault of this server',
    );
    return refuse(
      `The tool failed by a fault of the server: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function toolContext(call: RoundCall, services: ToolServices, from: ExecCall['from']): ToolContext {
  const { callId } = call;
  const { facts, exec, cards, clock, signal } = services;
  return {
    callId,
    facts,
    signal,
    exec: exec.forCall({ callId, signal, from }),
    delta: delta => cards.delta(callId, create(ToolCallDeltaSchema, delta)),
    get todos() {
      return services.todos;
    },
    setTodos(todos) {
      services.todos = todos;
    },
    now: () => clock.now(),
    pause: ms => pause(clock, ms, signal),
  };
}
