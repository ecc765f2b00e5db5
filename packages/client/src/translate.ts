import type { DescMessage, Message } from '@bufbuild/protobuf';
import { ToolCallSchema } from '@tandem/protocol/agent';
import type { ConversationStateStructure, InteractionUpdate, ToolCall, TurnEndedUpdate } from '@tandem/protocol/agent';
import { longJson, messageJson } from './card-json.ts';
import type { CheckpointEvent, RunEvent, ToolEvent, Usage } from './event.ts';

/** One update of the server (§16) as events; updates that tell a user nothing give none. Pure. */
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
    case 'toolCallDelta': {
      const delta = message.value.toolCallDelta?.delta;
      if (delta?.case !== 'shellToolCallDelta' || delta.value.delta.case === undefined) return [];
      const text = delta.value.delta.value.content;
      return text === ''
        ? []
        : [{ type: 'tool-output', id: message.value.callId, stream: delta.value.delta.case, text }];
    }
    case 'summary':
      return message.value.summary === '' ? [] : [{ type: 'notice', text: message.value.summary }];
    case 'turnEnded': {
      const usage = usageOf(message.value);
      return Object.keys(usage).length === 0 ? [] : [{ type: 'usage', ...usage }];
    }
    default:
      return [];
  }
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
