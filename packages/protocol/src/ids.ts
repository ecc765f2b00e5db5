/**
 * The identities of §1.1. They are strings and numbers on the wire; the brand keeps one kind from being passed for another,
 * since their spaces have nothing to do with each other (§23, R13, R14).
 */
declare const kind: unique symbol;
type Branded<Value, Kind extends string> = Value & { readonly [kind]: Kind };

/** One request stream: shared by BidiAppend and RunSSE, and free to be used again after its end (R13). */
export type RequestId = Branded<string, 'RequestId'>;
/** A conversation of many turns. */
export type ConversationId = Branded<string, 'ConversationId'>;
/** One run; the same over its attempts, and not the request id (R13, R15). */
export type RunId = Branded<string, 'RunId'>;
/** One message of the user. */
export type MessageId = Branded<string, 'MessageId'>;
/** One call of the model; shared by its tool events (R24). */
export type ModelCallId = Branded<string, 'ModelCallId'>;
/** One tool call: call_id and tool_call_id (R24). */
export type CallId = Branded<string, 'CallId'>;
/** The number of an execution on its stream, from 0 (R14). */
export type ExecNumber = Branded<number, 'ExecNumber'>;
/** The number of a blob operation on its stream, from 0 (R14). */
export type KvNumber = Branded<number, 'KvNumber'>;
/** The number of a query on its stream, from 0 (R14). */
export type QueryNumber = Branded<number, 'QueryNumber'>;

export function RequestId(value: string): RequestId {
  return value as RequestId;
}
export function ConversationId(value: string): ConversationId {
  return value as ConversationId;
}
export function RunId(value: string): RunId {
  return value as RunId;
}
export function MessageId(value: string): MessageId {
  return value as MessageId;
}
export function ModelCallId(value: string): ModelCallId {
  return value as ModelCallId;
}
export function CallId(value: string): CallId {
  return value as CallId;
}
export function ExecNumber(value: number): ExecNumber {
  return value as ExecNumber;
}
export function KvNumber(value: number): KvNumber {
  return value as KvNumber;
}
export function QueryNumber(value: number): QueryNumber {
  return value as QueryNumber;
}
