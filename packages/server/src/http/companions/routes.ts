import type { Request, Response } from '../listen.ts';
import type { RouteContext } from '../routes.ts';
import { unary } from '../unary.ts';

type Route = (request: Request, response: Response, context: RouteContext) => Promise<void>;

/** A route whose code is loaded with its first call: a server listens the sooner the less it loads. */
function late(load: () => Promise<Route>): Route {
  return async (request, response, context) => (await load())(request, response, context);
}

/** The unary companions of a run (R1), by path. */
export const companionRoutes = {
  '/agent.v1.AgentService/GetUsableModels': late(async () =>
    unary((await import('./get-usable-models.ts')).getUsableModels),
  ),
  '/agent.v1.AgentService/GetDefaultModelForCli': late(async () =>
    unary((await import('./get-default-model-for-cli.ts')).getDefaultModelForCli),
  ),
  '/agent.v1.AgentService/GetAllowedModelIntents': late(async () =>
    unary((await import('./get-allowed-model-intents.ts')).getAllowedModelIntents),
  ),
  '/agent.v1.AgentService/NameAgent': late(async () => unary((await import('./name-agent.ts')).nameAgent)),
  '/agent.v1.AgentService/UpdateConversationMetadata': late(async () =>
    unary((await import('./update-conversation-metadata.ts')).updateConversationMetadata),
  ),
  '/agent.v1.AgentService/UploadConversationBlobs': late(async () =>
    unary((await import('./upload-conversation-blobs.ts')).uploadConversationBlobs),
  ),
  '/agent.v1.AgentService/NotifyConversationClone': late(async () =>
    unary((await import('./notify-conversation-clone.ts')).notifyConversationClone),
  ),
  '/agent.v1.AgentService/GetPromptContextUsage': late(async () =>
    unary((await import('./get-prompt-context-usage.ts')).getPromptContextUsage),
  ),
} as const;
