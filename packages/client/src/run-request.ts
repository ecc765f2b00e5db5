import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AgentMode,
  AgentRunRequestSchema,
  ConversationActionSchema,
  ConversationStateStructureSchema,
  ResumeActionSchema,
  SelectedContextSchema,
  SelectedImageSchema,
  UserMessageActionSchema,
  UserMessageSchema,
} from '@tandem/protocol/agent';
import type {
  AgentRunRequest,
  ConversationStateStructure,
  McpToolDefinition,
  ModelDetailsSchema,
  SelectedContext,
  UserMessage,
} from '@tandem/protocol/agent';

/** The modes of a run (§8). */
export type Mode = 'agent' | 'ask' | 'plan';

/** An image that goes with the prompt. */
export interface PromptImage {
  /** Such as `image/png`. */
  mimeType: string;
  data: Uint8Array;
}

/** What one run is about. */
export interface RunOptions {
  prompt: string;
  /** An id or alias from the server's catalogue; absent, the server chooses. */
  model?: string;
  /** `agent` when absent. */
  mode?: Mode;
  /** The conversation to go on with; a new one when absent. */
  conversationId?: string;
  /** The last checkpoint of that conversation. */
  state?: ConversationStateStructure;
  images?: PromptImage[];
  /** Aborting it cancels the run. */
  signal?: AbortSignal;
  customSystemPrompt?: string;
  mcpTools?: McpToolDefinition[];
}

/** What makes a run the child of another (R64). */
export interface ChildOrigin {
  subagentTypeName: string;
  /** The conversation of the parent, or the child's own. */
  conversationGroupId: string;
  /** The model that the parent asks for; a child has no `requested_model`. */
  modelDetails: MessageInitShape<typeof ModelDetailsSchema>;
  /** What the parent selected for it. */
  selectedContext?: SelectedContext | undefined;
  /** The request_id of the parent's attempt and its tool call; both or neither go along as headers (R9). */
  parentRequestId?: string | undefined;
  toolCallId: string;
}

/** The headers of a child run. */
export function childHeaders(child: ChildOrigin | undefined): Record<string, string> {
  if (child?.parentRequestId === undefined || child.toolCallId === '') return {};
  return { 'x-parent-request-id': child.parentRequestId, 'x-parent-agent-tool-call-id': child.toolCallId };
}

const MODES: Record<Mode, AgentMode> = { agent: AgentMode.AGENT, ask: AgentMode.ASK, plan: AgentMode.PLAN };

/** The user's message; it stays the same, its id included, over all attempts of a run. */
export function makeUserMessage(options: RunOptions, ids: { uuid(): string }, selected?: SelectedContext): UserMessage {
  const message = create(UserMessageSchema, {
    text: options.prompt,
    messageId: ids.uuid(),
    ...(options.mode === undefined ? {} : { mode: MODES[options.mode] }),
    ...(selected === undefined ? {} : { selectedContext: selected }),
  });
  if (options.images !== undefined && options.images.length > 0) {
    message.selectedContext = create(SelectedContextSchema, {
      selectedImages: options.images.map(image =>
        create(SelectedImageSchema, {
          uuid: ids.uuid(),
          mimeType: image.mimeType,
          dataOrBlobId: { case: 'data', value: image.data },
        }),
      ),
    });
  }
  return message;
}

/**
 * The request of one attempt (§4). With a checkpoint of this run it resumes there (R15); without one it brings the same user message and
 * the state that the conversation had before.
 */
export function makeRunRequest(run: {
  options: RunOptions;
  conversationId: string;
  runId: string;
  userMessage: UserMessage;
  checkpoint: ConversationStateStructure | undefined;
  child?: ChildOrigin | undefined;
}): AgentRunRequest {
  const { options, checkpoint, child } = run;
  const action =
    checkpoint === undefined
      ? { case: 'userMessageAction' as const, value: create(UserMessageActionSchema, { userMessage: run.userMessage }) }
      : { case: 'resumeAction' as const, value: create(ResumeActionSchema) };
  return create(AgentRunRequestSchema, {
    conversationState: checkpoint ?? options.state ?? create(ConversationStateStructureSchema),
    action: create(ConversationActionSchema, { action }),
    conversationId: run.conversationId,
    runId: run.runId,
    ...(child === undefined
      ? {}
      : {
          modelDetails: child.modelDetails,
          subagentTypeName: child.subagentTypeName,
          conversationGroupId: child.conversationGroupId,
        }),
    ...(options.model === undefined ? {} : { requestedModel: { modelId: options.model } }),
    clientSupportsRoutedModelUpdate: true,
    ...(options.mcpTools === undefined ? {} : { mcpTools: { mcpTools: options.mcpTools } }),
    ...(options.customSystemPrompt === undefined ? {} : { customSystemPrompt: options.customSystemPrompt }),
  });
}
