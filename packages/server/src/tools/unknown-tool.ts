import { create } from '@bufbuild/protobuf';
import { McpToolCallSchema } from '@tandem/protocol/agent';
import { z } from 'zod';
import { failure } from './outcome.ts';
import type { Card, Tool } from './tool.ts';

/** What the model reads of a call to a tool that was not offered (R62). */
export function unknownToolMessage(name: string, offered: readonly string[]): string {
  const named = JSON.stringify(name.slice(0, 100));
  if (offered.length === 0) return `There is no tool ${named}. No tools are offered in this run; answer in text.`;
  return `There is no tool ${named}. The tools of this run are: ${offered.join(', ')}.`;
}

/**
 * Stands for a tool that was not offered, so that its call goes the way of every other: an mcp card, the one kind that can
 * carry any name, and an error with the valid names; no exec (R62).
 */
export function unknownTool(name: string, offered: readonly string[]): Tool {
  const message = unknownToolMessage(name, offered);
  const card = (callId: string, error?: string): Card => ({
    case: 'mcpToolCall',
    value: create(McpToolCallSchema, {
      args: { name, toolName: name, toolCallId: callId },
      ...(error === undefined ? {} : { result: { result: { case: 'error', value: { error } } } }),
    }),
  });
  return {
    name,
    aliases: [],
    argumentAliases: {},
    card: 'mcpToolCall',
    description: '',
    schema: z.record(z.string(), z.unknown()),
    parameters: { type: 'object', properties: {} },
    open: (_args, { callId }) => card(callId),
    close: (_args, error, { callId }) => card(callId, error),
    execute: (_args, { callId }) => Promise.resolve(failure(card(callId, message), message)),
  };
}
