/** A `bytes` field that holds the id of a blob, not data (R40). */
export interface BlobReference {
  /** The full name of the message that refers. */
  readonly message: string;
  /** The field, by its name in the schema. */
  readonly field: string;
  /** What the blob holds: the full name of a message, or words. `any` and the like name no type. */
  readonly holds: string;
  /** The ids are the values of a map. */
  readonly map?: true;
}

/** Every field that refers to a blob (R40). Nothing in an id says what it holds; the field does (R39). */
export const blobReferences: readonly BlobReference[] = [
  {
    message: 'agent.v1.ConversationStateStructure',
    field: 'root_prompt_messages_json',
    holds: 'JSON model message (UTF-8)',
  },
  { message: 'agent.v1.ConversationStateStructure', field: 'turns', holds: 'agent.v1.ConversationTurnStructure' },
  { message: 'agent.v1.ConversationStateStructure', field: 'todos', holds: 'agent.v1.TodoItem' },
  { message: 'agent.v1.ConversationStateStructure', field: 'summary', holds: 'agent.v1.ConversationSummary' },
  { message: 'agent.v1.ConversationStateStructure', field: 'plan', holds: 'agent.v1.ConversationPlan' },
  {
    message: 'agent.v1.ConversationStateStructure',
    field: 'summary_archive',
    holds: 'agent.v1.ConversationSummaryArchive',
  },
  {
    message: 'agent.v1.ConversationStateStructure',
    field: 'summary_archives',
    holds: 'agent.v1.ConversationSummaryArchive',
  },
  { message: 'agent.v1.ConversationStateStructure', field: 'file_states', holds: 'agent.v1.FileState', map: true },
  {
    message: 'agent.v1.ConversationStateStructure',
    field: 'subagent_state_refs',
    holds: 'agent.v1.ConversationStateStructure',
    map: true,
  },
  { message: 'agent.v1.ConversationSummaryArchive', field: 'summarized_messages', holds: 'JSON model message (UTF-8)' },
  { message: 'agent.v1.AgentConversationTurnStructure', field: 'user_message', holds: 'agent.v1.UserMessage' },
  { message: 'agent.v1.AgentConversationTurnStructure', field: 'steps', holds: 'agent.v1.ConversationStep' },
  {
    message: 'agent.v1.UserMessage',
    field: 'conversation_state_blob_id',
    holds: 'agent.v1.ConversationStateStructure',
  },
  { message: 'agent.v1.UserMessage', field: 'text_blob_id', holds: 'UTF-8 text' },
  { message: 'agent.v1.UserMessage', field: 'rich_text_blob_id', holds: 'UTF-8 text' },
  {
    message: 'agent.v1.RequestContextPartReferences',
    field: 'rules_blob_id',
    holds: 'agent.v1.RequestContextRulesPart',
  },
  {
    message: 'agent.v1.RequestContextPartReferences',
    field: 'skills_blob_id',
    holds: 'agent.v1.RequestContextSkillsPart',
  },
  {
    message: 'agent.v1.RequestContextPartReferences',
    field: 'subagents_blob_id',
    holds: 'agent.v1.RequestContextSubagentsPart',
  },
  { message: 'agent.v1.RequestContextPartReferences', field: 'mcps_blob_id', holds: 'agent.v1.RequestContextMcpsPart' },
  { message: 'agent.v1.SelectedImage', field: 'blob_id', holds: 'image bytes' },
  { message: 'agent.v1.SelectedImage.BlobIdWithData', field: 'blob_id', holds: 'image bytes (data beside it)' },
  { message: 'agent.v1.ConversationSummaryArchive', field: 'summary_message', holds: 'JSON model message (UTF-8)' },
  { message: 'agent.v1.FileStateStructure', field: 'content', holds: 'UTF-8 text' },
  { message: 'agent.v1.FileStateStructure', field: 'initial_content', holds: 'UTF-8 text' },
  { message: 'agent.v1.ShellConversationTurnStructure', field: 'shell_command', holds: 'agent.v1.ShellCommand' },
  { message: 'agent.v1.ShellConversationTurnStructure', field: 'shell_output', holds: 'agent.v1.ShellOutput' },
  {
    message: 'agent.v1.ConversationTokenDetails',
    field: 'prompt_context_usage_snapshot_blob_id',
    holds: 'agent.v1.PromptContextUsageSnapshot',
  },
  {
    message: 'agent.v1.PromptContextUsageSnapshot',
    field: 'root_prompt_messages_json',
    holds: 'JSON model message (UTF-8)',
  },
  {
    message: 'agent.v1.GetPromptContextUsageRequest',
    field: 'snapshot_blob_id',
    holds: 'agent.v1.PromptContextUsageSnapshot',
  },
  { message: 'agent.v1.ReadSuccess', field: 'output_blob_id', holds: 'file bytes' },
  { message: 'agent.v1.ReadToolSuccess', field: 'data_blob_id', holds: 'file bytes' },
  { message: 'agent.v1.ReadToolSuccess', field: 'content_blob_id', holds: 'UTF-8 text' },
  { message: 'agent.v1.TruncatedToolCall', field: 'original_step_blob_id', holds: 'agent.v1.ConversationStep' },
  { message: 'agent.v1.SelectedDocument', field: 'blob_id', holds: 'document bytes' },
  { message: 'agent.v1.SelectedDocument.BlobIdWithData', field: 'blob_id', holds: 'document bytes (data beside it)' },
  { message: 'agent.v1.SelectedVideo', field: 'blob_id', holds: 'video bytes' },
  { message: 'agent.v1.SelectedVideo.BlobIdWithData', field: 'blob_id', holds: 'video bytes (data beside it)' },
  { message: 'agent.v1.SelectedExternalLink', field: 'blob_id', holds: 'UTF-8 text (unverified)' },
  { message: 'agent.v1.SelectedGitPRDiffSelection', field: 'blob_id', holds: 'UTF-8 text (unverified)' },
  { message: 'agent.v1.SelectedPullRequest', field: 'blob_id', holds: 'UTF-8 text (unverified)' },
  { message: 'agent.v1.ExtraContextEntry', field: 'blob_id', holds: 'UTF-8 text (unverified)' },
  { message: 'agent.v1.InvocationContext', field: 'blob_id', holds: 'UTF-8 text (unverified)' },
  { message: 'agent.v1.PreFetchedBlob', field: 'id', holds: 'any (value beside it)' },
  { message: 'agent.v1.BlobEntry', field: 'id', holds: 'any (value beside it)' },
  { message: 'agent.v1.GetBlobArgs', field: 'blob_id', holds: 'any' },
  { message: 'agent.v1.SetBlobArgs', field: 'blob_id', holds: 'any (data beside it)' },
];

/** Every other `bytes` field: data, never an id. */
export const plainBytesFields: readonly string[] = [
  'aiserver.v1.BidiAppendRequest.data_binary',
  'agent.v1.BlobEntry.value',
  'agent.v1.GetBlobResult.blob_data',
  'agent.v1.McpImageContent.data',
  'agent.v1.PreFetchedBlob.value',
  'agent.v1.ReadMcpResourceSuccess.blob',
  'agent.v1.ReadSuccess.data',
  'agent.v1.ReadToolSuccess.data',
  'agent.v1.SelectedDocument.data',
  'agent.v1.SelectedDocument.BlobIdWithData.data',
  'agent.v1.SelectedImage.data',
  'agent.v1.SelectedImage.BlobIdWithData.data',
  'agent.v1.SelectedVideo.data',
  'agent.v1.SelectedVideo.BlobIdWithData.data',
  'agent.v1.SetBlobArgs.blob_data',
  'agent.v1.WriteArgs.file_bytes',
];
