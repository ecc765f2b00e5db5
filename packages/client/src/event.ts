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

/** Text that a running edit is about to write, to be appended (§16.2). */
export interface ToolEditEvent {
  type: 'tool-edit';
  id: string;
  text: string;
}

/** Something that a child run tells, for the tool call that began it. */
export interface ChildEvent {
  type: 'child';
  /** The call_id of the task. */
  id: string;
  event: RunEvent;
}

/** The thinking so far has ended. */
export interface ThinkingEndEvent {
  type: 'thinking-end';
  durationMs: number;
}

/** A message was added on the user's behalf, such as the end of a task in the background (R25). */
export interface UserMessageEvent {
  type: 'user-message';
  id: string;
  text: string;
}

/** Tokens that the model has put out since the last such event; an estimate for a person who waits. */
export interface TokensEvent {
  type: 'tokens';
  count: number;
}

/** The server shortens the conversation (§16.3); its words come as a notice. */
export interface SummaryEvent {
  type: 'summary';
  status: 'started' | 'completed' | 'failed';
  /** What a hook has to say about it. */
  message?: string;
}

/** A command that the user started himself: its output and its end. */
export interface CommandEvent {
  type: 'command';
  status: 'started' | 'output' | 'exited';
  stream?: 'stdout' | 'stderr';
  text?: string;
  code?: number;
}

/** One step of the turn begins or ends. */
export interface StepEvent {
  type: 'step';
  id: number | string;
  status: 'started' | 'completed';
  durationMs?: number | string;
}

/** What became of a text that was injected (R65). */
export interface InjectionEvent {
  type: 'injection';
  id: string;
  state: 'queued' | 'delivered' | 'next-turn' | 'cancelled' | 'rejected';
  /** Only with `rejected`. */
  reason?: string;
}

/** The model that answers, when the server chose it. */
export interface ModelEvent {
  type: 'model';
  name: string;
}

/** A prompt that the user might send next. */
export interface SuggestionEvent {
  type: 'suggestion';
  text: string;
}

/** The branch of a repository has changed. */
export interface BranchEvent {
  type: 'branch';
  path: string;
  name: string;
}

/** How many tools the model has asked for at once. */
export interface ToolsListedEvent {
  type: 'tools-listed';
  count: number;
}

/**
 * Something for the window of a program and not for the run: a box with a button (`post_request_prompt`), a form (`feedback_request`), two answers
 * side by side (`response_comparison`), a hint (`grok_bot_nudge`). `content` is the update in protobuf JSON.
 */
export interface DisplayEvent {
  type: 'display';
  kind: string;
  content: JsonObject;
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
  /** The failure itself, whose title and message make the reason. */
  error: RunError;
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
  | ToolEditEvent
  | ChildEvent
  | ThinkingEndEvent
  | UserMessageEvent
  | TokensEvent
  | SummaryEvent
  | CommandEvent
  | StepEvent
  | InjectionEvent
  | ModelEvent
  | SuggestionEvent
  | BranchEvent
  | ToolsListedEvent
  | DisplayEvent
  | QuestionEvent
  | CheckpointEvent
  | UsageEvent
  | RetryEvent
  | EndEvent;
