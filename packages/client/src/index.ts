export { AgentClient } from './client.ts';
export type { AgentClientOptions } from './client.ts';
export { Conversation } from './conversation.ts';
export type { ConversationOptions, TurnOptions } from './conversation.ts';
export type { InjectionOutcome } from './injection.ts';
export type { Run } from './run.ts';
export type { Mode, PromptImage, RunOptions } from './run-request.ts';
export type {
  BranchEvent,
  CheckpointEvent,
  ChildEvent,
  CommandEvent,
  DisplayEvent,
  EndEvent,
  InjectionEvent,
  ModelEvent,
  NoticeEvent,
  QuestionEvent,
  RetryEvent,
  RunEvent,
  StepEvent,
  SuggestionEvent,
  SummaryEvent,
  TextEvent,
  ThinkingEndEvent,
  ThinkingEvent,
  TokensEvent,
  ToolEditEvent,
  ToolEvent,
  ToolOutputEvent,
  ToolsListedEvent,
  Usage,
  UsageEvent,
  UserMessageEvent,
} from './event.ts';
export { AttemptFailure } from './failure.ts';
export type { RunError } from './failure.ts';
export { hasSideEffect } from './executor.ts';
export type { AnyExecutor, ExecAnswer, ExecArgs, ExecContext, ExecKind, Executor, Executors } from './executor.ts';
export { approveQuery, refuseQuery } from './answer-query.ts';
export type { AnswerQuery, Query, QueryAnswer } from './answer-query.ts';
export { hashBlob, memoryBlobStore } from './blob-store.ts';
export type { BlobStore } from './blob-store.ts';
export { fetchTransport } from './transport-fetch.ts';
export type { Decompress, Transport, TransportAnswer, TransportRequest } from './transport.ts';
export type { ModelItem } from './model-catalogue.ts';
export type { Clock } from './clock.ts';
export type { Ids } from './ids.ts';
export { limits } from './limits.ts';
