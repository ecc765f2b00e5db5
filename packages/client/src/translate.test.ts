import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ConversationStateStructureSchema, InteractionUpdateSchema } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { checkpointEvent, translateUpdate } from './translate.ts';

type Update = MessageInitShape<typeof InteractionUpdateSchema>['message'];
const events = (message: Update) => translateUpdate(create(InteractionUpdateSchema, { message: message! }));

it('tells text, thinking and notices apart', () => {
  expect(events({ case: 'textDelta', value: { text: 'a' } })).toEqual([{ type: 'text', text: 'a' }]);
  expect(events({ case: 'textDelta', value: { text: 'b', isServerNotice: true } })).toEqual([
    { type: 'notice', text: 'b' },
  ]);
  expect(events({ case: 'thinkingDelta', value: { text: 'c' } })).toEqual([{ type: 'thinking', text: 'c' }]);
  expect(events({ case: 'summary', value: { summary: 'd' } })).toEqual([{ type: 'notice', text: 'd' }]);
});

it('tells nothing of heartbeats, empty text and updates of a newer schema', () => {
  expect(events({ case: 'heartbeat', value: {} })).toEqual([]);
  expect(events({ case: 'textDelta', value: { text: '' } })).toEqual([]);
  expect(events({ case: undefined })).toEqual([]);
});

it('tells a tool call by its card, from the first argument to the result', () => {
  const call = { callId: 'call-1', modelCallId: 'm' };
  const args = { path: '/ws/a.ts', offset: 3 };
  expect(
    events({
      case: 'partialToolCall',
      value: { ...call, argsTextDelta: '{"pa', toolCall: { tool: { case: 'readToolCall', value: { args: {} } } } },
    }),
  ).toEqual([{ type: 'tool', id: 'call-1', name: 'read', status: 'partial', args: {}, argsTextDelta: '{"pa' }]);
  expect(
    events({
      case: 'toolCallStarted',
      value: { ...call, toolCall: { tool: { case: 'readToolCall', value: { args } } } },
    }),
  ).toEqual([{ type: 'tool', id: 'call-1', name: 'read', status: 'running', args: { path: '/ws/a.ts', offset: 3 } }]);
  const result = {
    result: { case: 'success' as const, value: { output: { case: 'content' as const, value: 'hello' } } },
  };
  expect(
    events({
      case: 'toolCallCompleted',
      value: { ...call, toolCall: { tool: { case: 'readToolCall', value: { args, result } } } },
    }),
  ).toEqual([
    {
      type: 'tool',
      id: 'call-1',
      name: 'read',
      status: 'completed',
      args: { path: '/ws/a.ts', offset: 3 },
      result: { success: { content: 'hello' } },
    },
  ]);
});

it('calls a tool failed when its result is no success', () => {
  const value = {
    callId: 'c',
    toolCall: {
      tool: { case: 'readToolCall' as const, value: { result: { result: { case: 'error' as const, value: {} } } } },
    },
  };
  expect(events({ case: 'toolCallCompleted', value })).toMatchObject([
    { name: 'read', status: 'failed', result: { error: {} } },
  ]);
});

it('names cards of several words as the schema does', () => {
  const value = { callId: 'c', toolCall: { tool: { case: 'updateTodosToolCall' as const, value: {} } } };
  expect(events({ case: 'toolCallStarted', value })).toMatchObject([{ name: 'update_todos' }]);
});

it('gives 64-bit numbers as numbers where they are safe, as text else', () => {
  const of = (fileOutputThresholdBytes: bigint) =>
    events({
      case: 'toolCallStarted',
      value: {
        callId: 'c',
        toolCall: { tool: { case: 'shellToolCall', value: { args: { command: 'ls', fileOutputThresholdBytes } } } },
      },
    });
  expect(of(40_000n)).toMatchObject([{ args: { command: 'ls', fileOutputThresholdBytes: 40_000 } }]);
  expect(of(2n ** 60n)).toMatchObject([{ args: { fileOutputThresholdBytes: '1152921504606846976' } }]);
});

it('passes on what a command prints', () => {
  const value = {
    callId: 'c',
    toolCallDelta: {
      delta: {
        case: 'shellToolCallDelta' as const,
        value: { delta: { case: 'stderr' as const, value: { content: 'oops\n' } } },
      },
    },
  };
  expect(events({ case: 'toolCallDelta', value })).toEqual([
    { type: 'tool-output', id: 'c', stream: 'stderr', text: 'oops\n' },
  ]);
});

it('reports the tokens that the server reported, and no others', () => {
  expect(events({ case: 'turnEnded', value: { inputTokens: 0n, outputTokens: 7n } })).toEqual([
    { type: 'usage', inputTokens: 0, outputTokens: 7 },
  ]);
  expect(events({ case: 'turnEnded', value: {} })).toEqual([]);
});

it('gives a checkpoint in figures', () => {
  const state = create(ConversationStateStructureSchema, {
    pendingToolCalls: ['a'],
    turns: [new Uint8Array(32)],
    tokenDetails: { usedTokens: 12, maxTokens: 100 },
  });
  expect(checkpointEvent(state)).toEqual({
    type: 'checkpoint',
    turns: 1,
    pendingToolCalls: 1,
    usedTokens: 12,
    maxTokens: 100,
  });
});

/** Every branch, with the event that it becomes. */
const branches: [Update, unknown][] = [
  [
    { case: 'textDelta', value: { text: 'a' } },
    { type: 'text', text: 'a' },
  ],
  [
    { case: 'thinkingDelta', value: { text: 'b' } },
    { type: 'thinking', text: 'b' },
  ],
  [
    {
      case: 'partialToolCall',
      value: { callId: 'c', argsTextDelta: '{', toolCall: { tool: { case: 'readToolCall', value: {} } } },
    },
    { type: 'tool', id: 'c', name: 'read', status: 'partial', argsTextDelta: '{' },
  ],
  [
    {
      case: 'toolCallStarted',
      value: { callId: 'c', toolCall: { tool: { case: 'lsToolCall', value: { args: { path: 'p' } } } } },
    },
    { type: 'tool', id: 'c', name: 'ls', status: 'running', args: { path: 'p' } },
  ],
  [
    { case: 'toolCallCompleted', value: { callId: 'c', toolCall: { tool: { case: 'lsToolCall', value: {} } } } },
    { type: 'tool', id: 'c', name: 'ls', status: 'completed' },
  ],
  [
    { case: 'summary', value: { summary: 's' } },
    { type: 'notice', text: 's' },
  ],
  [
    { case: 'turnEnded', value: { inputTokens: 1n } },
    { type: 'usage', inputTokens: 1 },
  ],
  [
    { case: 'feedbackRequest', value: {} },
    { type: 'display', kind: 'feedback_request', content: {} },
  ],
  [
    { case: 'responseComparison', value: {} },
    { type: 'display', kind: 'response_comparison', content: {} },
  ],
  [
    { case: 'grokBotNudge', value: {} },
    { type: 'display', kind: 'grok_bot_nudge', content: {} },
  ],
  [
    { case: 'thinkingCompleted', value: { thinkingDurationMs: 5 } },
    { type: 'thinking-end', durationMs: 5 },
  ],
  [
    { case: 'userMessageAppended', value: { userMessage: { messageId: 'm', text: 'done' } } },
    { type: 'user-message', id: 'm', text: 'done' },
  ],
  [
    { case: 'tokenDelta', value: { tokens: 7 } },
    { type: 'tokens', count: 7 },
  ],
  [
    { case: 'summaryStarted', value: {} },
    { type: 'summary', status: 'started' },
  ],
  [
    { case: 'summaryCompleted', value: { failed: true } },
    { type: 'summary', status: 'failed' },
  ],
  [
    { case: 'shellOutputDelta', value: { event: { case: 'stderr', value: { data: 'x' } } } },
    { type: 'command', status: 'output', stream: 'stderr', text: 'x' },
  ],
  [
    { case: 'shellOutputDelta', value: { event: { case: 'exit', value: { code: 3 } } } },
    { type: 'command', status: 'exited', code: 3 },
  ],
  [
    { case: 'stepStarted', value: { stepId: 2n } },
    { type: 'step', id: 2, status: 'started' },
  ],
  [
    { case: 'stepCompleted', value: { stepId: 2n, stepDurationMs: 9n } },
    { type: 'step', id: 2, status: 'completed', durationMs: 9 },
  ],
  [
    {
      case: 'contextInjectionState',
      value: { injectionId: 'i', state: { state: { case: 'rejected', value: { reason: 'late' } } } },
    },
    { type: 'injection', id: 'i', state: 'rejected', reason: 'late' },
  ],
  [
    {
      case: 'contextInjectionState',
      value: { injectionId: 'i', state: { state: { case: 'queuedForNextTurn', value: {} } } },
    },
    { type: 'injection', id: 'i', state: 'next-turn' },
  ],
  [
    { case: 'routedModel', value: { displayName: 'M' } },
    { type: 'model', name: 'M' },
  ],
  [
    { case: 'promptSuggestion', value: { suggestion: 's' } },
    { type: 'suggestion', text: 's' },
  ],
  [
    { case: 'activeBranchChange', value: { path: '/ws', branchName: 'b' } },
    { type: 'branch', path: '/ws', name: 'b' },
  ],
  [
    { case: 'toolRequestsListed', value: { callCount: 2 } },
    { type: 'tools-listed', count: 2 },
  ],
  [
    { case: 'postRequestPrompt', value: { title: 't', buttonUrl: 'u' } },
    { type: 'display', kind: 'post_request_prompt', content: { title: 't', buttonUrl: 'u' } },
  ],
  [
    {
      case: 'toolCallDelta',
      value: {
        callId: 'c',
        toolCallDelta: { delta: { case: 'editToolCallDelta', value: { streamContentDelta: 'x' } } },
      },
    },
    { type: 'tool-edit', id: 'c', text: 'x' },
  ],
  [
    {
      case: 'toolCallDelta',
      value: {
        callId: 'c',
        toolCallDelta: {
          delta: {
            case: 'taskToolCallDelta',
            value: { interactionUpdate: { message: { case: 'textDelta', value: { text: 'child' } } } },
          },
        },
      },
    },
    { type: 'child', id: 'c', event: { type: 'text', text: 'child' } },
  ],
];
it.each(branches.map(([update, event]) => [update?.case, update, event] as const))(
  '[§16-every-branch] tells %s',
  (_name, update, event) => {
    expect(events(update)).toEqual([event]);
  },
);

it('[§16-every-branch] has an event for every branch of the schema but one', () => {
  const told = new Set(branches.map(([update]) => update?.case));
  const all = InteractionUpdateSchema.fields.filter(one => one.oneof !== undefined).map(one => one.localName);
  // A heartbeat tells that the server is there, and nothing of the turn.
  expect(all.filter(name => !told.has(name as never))).toEqual(['heartbeat']);
  expect(events({ case: 'heartbeat', value: {} })).toEqual([]);
});
