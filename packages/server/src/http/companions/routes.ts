import { unary } from '../unary.ts';
import { getAllowedModelIntents } from './get-allowed-model-intents.ts';
import { getDefaultModelForCli } from './get-default-model-for-cli.ts';
import { getPromptContextUsage } from './get-prompt-context-usage.ts';
import { getUsableModels } from './get-usable-models.ts';
import { nameAgent } from './name-agent.ts';
import { notifyConversationClone } from './notify-conversation-clone.ts';
import { updateConversationMetadata } from './update-conversation-metadata.ts';
import { uploadConversationBlobs } from './upload-conversation-blobs.ts';

/** The unary companions of a run (R1), by path. */
export const companionRoutes = {
  '/agent.v1.AgentService/GetUsableModels': unary(getUsableModels),
  '/agent.v1.AgentService/GetDefaultModelForCli': unary(getDefaultModelForCli),
  '/agent.v1.AgentService/GetAllowedModelIntents': unary(getAllowedModelIntents),
  '/agent.v1.AgentService/NameAgent': unary(nameAgent),
  '/agent.v1.AgentService/UpdateConversationMetadata': unary(updateConversationMetadata),
  '/agent.v1.AgentService/UploadConversationBlobs': unary(uploadConversationBlobs),
  '/agent.v1.AgentService/NotifyConversationClone': unary(notifyConversationClone),
  '/agent.v1.AgentService/GetPromptContextUsage': unary(getPromptContextUsage),
} as const;
