import { create, fromJson } from '@bufbuild/protobuf';
import type { JsonValue, MessageInitShape } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { McpToolCallSchema } from '@tandem/protocol/agent';
import type { McpArgsSchema, McpResult, McpSuccess, McpToolResultSchema } from '@tandem/protocol/agent';
import type { ImagePart, TextPart } from '@tandem/protocol/message';
import { deniedText } from './denied.ts';
import { excerptOf } from './excerpt.ts';
import { imagePart } from './image-part.ts';
import { RESULT_CHARACTERS } from './limits.ts';
import { failure, success } from './outcome.ts';
import type { Card, ToolContext, ToolFacts, ToolOutcome } from './tool.ts';

/** A call of an MCP tool, with the names the client advertised it under (R60). */
export interface McpCall {
  advertisedName: string;
  server: string;
  toolName: string;
  arguments: Record<string, unknown>;
  description?: string | undefined;
}

type Result = NonNullable<MessageInitShape<typeof McpToolResultSchema>['result']>;

/** Every argument keeps its JSON type: "00123" stays a string, 3 a number (K11). */
function argsOf(call: McpCall, callId: string): MessageInitShape<typeof McpArgsSchema> {
  const args = Object.entries(call.arguments).map(
    ([name, value]) => [name, fromJson(ValueSchema, value as JsonValue)] as const,
  );
  return {
    name: call.advertisedName,
    toolName: call.toolName,
    providerIdentifier: call.server,
    serverIdentifier: call.server,
    toolCallId: callId,
    args: Object.fromEntries(args),
  };
}

/** The card of an MCP call. */
export function mcpCard(call: McpCall, callId: string, result?: Result): Card {
  return {
    case: 'mcpToolCall',
    value: create(McpToolCallSchema, {
      args: argsOf(call, callId),
      description: call.description || undefined,
      ...(result ? { result: { result } } : {}),
    }),
  };
}

/** The error result of an MCP card. */
export function mcpError(error: string): Result {
  return { case: 'error', value: { error } };
}

/**
 * Calls an MCP tool: `exec.mcp` (R60). What the tool itself calls an error is one for the model too, and a card of success
 * with `is_error`, as the client sent it (R34).
 */
export async function callMcp(call: McpCall, context: ToolContext): Promise<ToolOutcome> {
  const answer = await context.exec.mcp(argsOf(call, context.callId));
  const { result } = answer;
  if (result.case === 'success') {
    const card = mcpCard(call, context.callId, result);
    const content = contentOf(result.value, context.facts);
    return result.value.isError ? { card, content, isError: true } : success(card, content);
  }
  const message = mcpProblem(call, answer, context.facts);
  const kept = result.case === 'rejected' || result.case === 'permissionDenied' ? result : mcpError(message);
  return failure(mcpCard(call, context.callId, kept), message);
}

function contentOf(result: McpSuccess, facts: ToolFacts): ToolOutcome['content'] {
  const parts: (TextPart | ImagePart)[] = [];
  const texts = result.content.map(({ content }) => (content.case === 'text' ? content.value.text : ''));
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  for (const { content } of result.content) {
    if (content.case === 'text') {
      const { text, outputLocation } = content.value;
      const share = total > RESULT_CHARACTERS ? Math.ceil((RESULT_CHARACTERS * text.length) / total) : text.length;
      const whole = outputLocation?.filePath ? `\n(The whole output is in ${outputLocation.filePath}.)` : '';
      parts.push({ type: 'text', text: excerptOf(text, share) + whole });
    } else if (content.case === 'image') {
      parts.push(imagePart(content.value.data, 'The result', facts, content.value.mimeType));
    }
  }
  if (parts.length === 0 && result.structuredContent !== undefined) {
    return excerptOf(JSON.stringify(result.structuredContent), RESULT_CHARACTERS);
  }
  if (parts.some(part => part.type === 'image')) return parts;
  const text = parts.map(part => (part.type === 'text' ? part.text : '')).join('\n');
  return text.trim() === '' ? '(no output)' : text;
}

function mcpProblem(call: McpCall, { result }: McpResult, facts: ToolFacts): string {
  const name = `${call.toolName} of the MCP server ${call.server}`;
  switch (result.case) {
    case 'toolNotFound': {
      const known =
        result.value.availableTools.join(', ') ||
        facts.mcp
          .findServer(call.server)
          ?.tools.map(tool => tool.toolName)
          .join(', ');
      return `The MCP server ${call.server} has no tool ${call.toolName}.${known ? ` It has: ${known}.` : ''}`;
    }
    case 'serverNotFound': {
      const known =
        result.value.availableServers.join(', ') || facts.mcp.servers.map(server => server.identifier).join(', ');
      return `There is no MCP server ${call.server}.${known ? ` There are: ${known}.` : ''}`;
    }
    case 'rejected':
      return `The user did not allow ${name}. ${result.value.reason}`.trim();
    case 'permissionDenied':
      return deniedText(`${name} did not run`, result.value);
    case 'approved':
      return `${name} did not run: the client approved the call and gave no result.`;
    default: {
      const error = result.case === 'error' ? result.value : undefined;
      const auth = error?.needsAuth ? ' The user has to sign in to this server first.' : '';
      return `${name} failed: ${error?.error || 'the client gave no reason'}${auth}`;
    }
  }
}
