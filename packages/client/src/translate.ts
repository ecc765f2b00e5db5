import type { DescMessage, Message } from '@bufbuild/protobuf';
import { InteractionUpdateSchema, ToolCallSchema } from '@tandem/protocol/agent';
import type {
  ContextInjectionStateUpdate,
  ConversationStateStructure,
  InteractionUpdate,
  ShellOutputDeltaUpdate,
  ToolCall,
  ToolCallDeltaUpdate,
  TurnEndedUpdate,
} from '@tandem/protocol/agent';
import { longJson, messageJson } from './card-json.ts';
import type { CheckpointEvent, RunEvent, ToolEvent, Usage } from './event.ts';

/** One update of the server (§16) as events: every branch has its own, but for `heartbeat`, which tells nothing. Pure. */
export function translateUpdate(update: InteractionUpdate): RunEvent[] {
  const { message } = update;
  switch (message.case) {
    case 'textDelta':
      if (message.value.text === '') return [];
      return [{ type: message.value.isServerNotice ? 'notice' : 'text', text: message.value.text }];
    case 'thinkingDelta':
      return message.value.text === '' ? [] : [{ type: 'thinking', text: message.value.text }];
    case 'partialToolCall': {
      const event = toolEvent('partial', message.value.callId, message.value.toolCall);
      if (message.value.argsTextDelta !== '') event.argsTextDelta = message.value.argsTextDelta;
      return [event];
    }
    case 'toolCallStarted':
      return [toolEvent('running', message.value.callId, message.value.toolCall)];
    case 'toolCallCompleted':
      return [toolEvent('completed', message.value.callId, message.value.toolCall)];
    case 'toolCallDelta':
      return deltaEvents(message.value);
    case 'shellOutputDelta':
      return commandEvents(message.value);
    case 'summary':
      return message.value.summary === '' ? [] : [{ type: 'notice', text: message.value.summary }];
    case 'turnEnded': {
      const usage = usageOf(message.value);
      return Object.keys(usage).length === 0 ? [] : [{ type: 'usage', ...usage }];
    }
    case 'thinkingCompleted':
      return [{ type: 'thinking-end', durationMs: message.value.thinkingDurationMs }];
    case 'userMessageAppended': {
      const { messageId: id = '', text = '' } = message.value.userMessage ?? {};
      return [{ type: 'user-message', id, text }];
    }
    case 'tokenDelta':
      return [{ type: 'tokens', count: message.value.tokens }];
    case 'summaryStarted':
      return [{ type: 'summary', status: 'started' }];
    case 'summaryCompleted': {
      const { failed, hookMessage } = message.value;
      const status = failed === true ? 'failed' : 'completed';
      return [{ type: 'summary', status, ...(hookMessage === undefined ? {} : { message: hookMessage }) }];
    }
    case 'stepStarted':
      return [{ type: 'step', id: longJson(message.value.stepId), status: 'started' }];
    case 'stepCompleted': {
      const { stepId, stepDurationMs } = message.value;
      return [{ type: 'step', id: longJson(stepId), status: 'completed', durationMs: longJson(stepDurationMs) }];
    }
    case 'contextInjectionState':
      return injectionEvents(message.value);
    case 'routedModel':
      return [{ type: 'model', name: message.value.displayName }];
    case 'promptSuggestion':
      return message.value.suggestion === '' ? [] : [{ type: 'suggestion', text: message.value.suggestion }];
    case 'activeBranchChange':
      return [{ type: 'branch', path: message.value.path, name: message.value.branchName }];
    case 'toolRequestsListed':
      return [{ type: 'tools-listed', count: message.value.callCount }];
    case 'postRequestPrompt':
    case 'feedbackRequest':
    case 'responseComparison':
    case 'grokBotNudge':
      return [displayEvent(message.case, message.value)];
    // A sign of life says nothing; and an update of a newer schema has no branch here.
    case 'heartbeat':
    case undefined:
      return [];
  }
}

function deltaEvents({ callId: id, toolCallDelta }: ToolCallDeltaUpdate): RunEvent[] {
  const delta = toolCallDelta?.delta;
  switch (delta?.case) {
    case 'shellToolCallDelta': {
      const output = delta.value.delta;
      if (output.case === undefined || output.value.content === '') return [];
      return [{ type: 'tool-output', id, stream: output.case, text: output.value.content }];
    }
    case 'taskToolCallDelta':
      if (delta.value.interactionUpdate === undefined) return [];
      return translateUpdate(delta.value.interactionUpdate).map(event => ({ type: 'child', id, event }));
    case 'editToolCallDelta':
      return delta.value.streamContentDelta === ''
        ? []
        : [{ type: 'tool-edit', id, text: delta.value.streamContentDelta }];
    // The name of a machine elsewhere tells a user nothing.
    case 'replaceEnvToolCallDelta':
    case undefined:
      return [];
  }
}

function commandEvents({ event }: ShellOutputDeltaUpdate): RunEvent[] {
  switch (event.case) {
    case 'start':
      return [{ type: 'command', status: 'started' }];
    case 'stdout':
    case 'stderr':
      return [{ type: 'command', status: 'output', stream: event.case, text: event.value.data }];
    case 'exit':
      return [{ type: 'command', status: 'exited', code: event.value.code }];
    case undefined:
      return [];
  }
}

const INJECTION_STATES = {
  queued: 'queued',
  delivered: 'delivered',
  queuedForNextTurn: 'next-turn',
  cancelled: 'cancelled',
  rejected: 'rejected',
} as const;

function injectionEvents({ injectionId: id, state }: ContextInjectionStateUpdate): RunEvent[] {
  const branch = state?.state;
  if (branch?.case === undefined) return [];
  const reason = branch.case === 'rejected' ? { reason: branch.value.reason } : {};
  return [{ type: 'injection', id, state: INJECTION_STATES[branch.case], ...reason }];
}

function displayEvent(kind: string, value: Message): RunEvent {
  const field = InteractionUpdateSchema.fields.find(candidate => candidate.localName === kind);
  const content = field?.message === undefined ? {} : messageJson(field.message, value);
  return { type: 'display', kind: field?.name ?? kind, content };
}

/** The tokens that turn_ended reports; a field that is absent there is absent here (R58). */
export function usageOf(ended: TurnEndedUpdate): Usage {
  const usage: Usage = {};
  if (ended.inputTokens !== undefined) usage.inputTokens = longJson(ended.inputTokens);
  if (ended.outputTokens !== undefined) usage.outputTokens = longJson(ended.outputTokens);
  if (ended.cacheReadTokens !== undefined) usage.cacheReadTokens = longJson(ended.cacheReadTokens);
  if (ended.cacheWriteTokens !== undefined) usage.cacheWriteTokens = longJson(ended.cacheWriteTokens);
  if (ended.reasoningTokens !== undefined) usage.reasoningTokens = longJson(ended.reasoningTokens);
  return usage;
}

/** A checkpoint in figures. */
export function checkpointEvent(state: ConversationStateStructure): CheckpointEvent {
  const event: CheckpointEvent = {
    type: 'checkpoint',
    turns: state.turns.length,
    pendingToolCalls: state.pendingToolCalls.length,
  };
  if (state.tokenDetails !== undefined) {
    event.usedTokens = state.tokenDetails.usedTokens;
    event.maxTokens = state.tokenDetails.maxTokens;
  }
  return event;
}

/** Result branches of a card that are no failure, besides those that are called success. */
const FINE: ReadonlySet<string> = new Set(['success', 'complete', 'stillRunning', 'async', 'approved', 'registered']);

function toolEvent(status: ToolEvent['status'], id: string, call: ToolCall | undefined): ToolEvent {
  const event: ToolEvent = { type: 'tool', id, name: '', status };
  const field = ToolCallSchema.fields.find(candidate => candidate.localName === call?.tool.case);
  const card = call?.tool.value;
  if (field?.message === undefined || card === undefined) return event;
  event.name = field.name.replace(/_tool_call$/, '');
  const parts = card as unknown as Record<string, unknown>;
  for (const part of field.message.fields) {
    const value = parts[part.localName];
    if (part.message === undefined || value === undefined || part.fieldKind !== 'message') continue;
    if (part.name === 'args') event.args = messageJson(part.message, value as Message);
    if (part.name === 'result') {
      event.result = messageJson(part.message, value as Message);
      if (status === 'completed' && !isFine(part.message, value)) event.status = 'failed';
    }
  }
  return event;
}

/** Whether the branch of a result that is set tells of a success; a result without branches is one. */
function isFine(schema: DescMessage, result: unknown): boolean {
  const oneof = schema.oneofs[0];
  if (oneof === undefined) return true;
  const branch = (result as Record<string, { case?: string } | undefined>)[oneof.localName]?.case;
  return branch === undefined || FINE.has(branch) || /success$/i.test(branch);
}
