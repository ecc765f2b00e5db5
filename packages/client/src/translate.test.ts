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
