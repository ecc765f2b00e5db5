import type { JsonObject } from '@bufbuild/protobuf';
import type { RunError } from './failure.ts';

/** Tokens of a turn, as the server counted them (R58); what it did not report is absent. Safe integers as numbers, larger ones as text. */
export interface Usage {
  inputTokens?: number | string;
  outputTokens?: number | string;
  cacheReadTokens?: number | string;
  cacheWriteTokens?: number | string;
  reasoningTokens?: number | string;
}

/** A piece of the answer's text. Pieces are to be joined as they are. */
export interface TextEvent {
  type: 'text';
  text: string;
}

/** A piece of what the model thinks aloud. */
export interface ThinkingEvent {
  type: 'thinking';
  text: string;
}

/** A word of the server itself, not of the model: a notice (§16.1) or a summary (§16.3). */
export interface NoticeEvent {
  type: 'notice';
  text: string;
}

/** A change of one tool call (§16.2). */
export interface ToolEvent {
  type: 'tool';
  /** The call_id, the same over all events of the call (R24). */
  id: string;
  /** The card's name without its suffix, such as `read`, `shell`, `update_todos`. Empty when the server named none. */
  name: string;
  /** `partial` while the arguments still arrive; `failed` when the result is anything but a success. */
  status: 'partial' | 'running' | 'completed' | 'failed';
  /** The card's arguments in protobuf JSON. */
  args?: JsonObject;
  /** The card's result in protobuf JSON: one key, the branch that is set. */
  result?: JsonObject;
  /** Appended text of the arguments (R23); only with `partial`. */
  argsTextDelta?: string;
}

/** Output of a running command, for its tool call. */
export interface ToolOutputEvent {
  type: 'tool-output';
  id: string;
  stream: 'stdout' | 'stderr';
  text: string;
}

/** The server asks the user something (§19); the client answers by its `answerQuery`. */
export interface QuestionEvent {
  type: 'question';
  /** The number of the query within its stream. */
  id: number;
  /** The query's name without its suffix, such as `ask_question`, `web_search`. */
  kind: string;
  /** The query's content in protobuf JSON. */
  query: JsonObject;
}

/** The conversation was saved up to here; `Run.state` holds the state itself. */
export interface CheckpointEvent {
  type: 'checkpoint';
  turns: number;
  pendingToolCalls: number;
  usedTokens?: number;
  maxTokens?: number;
}

/** Tokens of the turn. */
export interface UsageEvent extends Usage {
  type: 'usage';
}

/** The connection broke and the run goes on in another attempt after `delayMs`. */
export interface RetryEvent {
  type: 'retry';
  /** The number of the coming attempt; the first retry is 2. */
  attempt: number;
  delayMs: number;
  reason: string;
}

/** How a run ended. There is exactly one, and it is the last event. */
export interface EndEvent {
  type: 'end';
  outcome: 'ended' | 'cancelled' | 'failed';
  /** The text after the last tool call. */
  text: string;
  usage?: Usage;
  conversationId: string;
  /** Only with `failed`. */
  error?: RunError;
}

/** Everything a run tells. More types may come: skip those you do not know. */
export type RunEvent =
  | TextEvent
  | ThinkingEvent
  | NoticeEvent
  | ToolEvent
  | ToolOutputEvent
  | QuestionEvent
  | CheckpointEvent
  | UsageEvent
  | RetryEvent
  | EndEvent;
