import { create } from '@bufbuild/protobuf';
import { AgentMode, UserMessageSchema } from '@tandem/protocol/agent';
import type { UserMessage, UserMessageAction } from '@tandem/protocol/agent';
import { breathe } from '../../breathe.ts';
import type { PendingBatch } from '../../conversation/pending-calls.ts';
import { Turns } from '../../conversation/turns.ts';
import { loop } from '../loop.ts';
import { interruptedNote } from '../note.ts';
import { addPrompt } from '../prompt.ts';
import { clientResolutions } from '../resolutions.ts';
import { pendingCalls, runRound } from '../tool-round.ts';
import type { Turn } from '../turn.ts';
import { userModelMessage } from '../user-message.ts';

/** `user_message_action`: what was pending is closed, the message is persisted, then the model is asked (§7.2, R48). */
export async function userMessageAction(
  turn: Turn,
  action: UserMessageAction,
  pending: { batch: PendingBatch | undefined; unreadable: number },
): Promise<void> {
  const { history, checkpoint, blobs, services, request, requestId } = turn.parts;
  const { state } = checkpoint;
  const { context, workspacePaths } = services.facts;
  const now = services.clock.now();
  if (pending.batch) await closePending(turn, action, pending.batch);
  addPrompt(history, request, context, now);
  if (pending.unreadable > 0) history.append(interruptedNote());
  for (const earlier of action.prependUserMessages) history.append(await userModelMessage(earlier, blobs));
  const message: UserMessage = action.userMessage ?? create(UserMessageSchema);
  const modelMessage = await userModelMessage(message, blobs);
  await breathe(message.text.length);
  const bytes = history.append(modelMessage);
  await breathe(bytes);
  turn.turns.begin(message, requestId);
  await breathe(bytes);

  state.pendingToolCalls = [];
  if (message.mode !== AgentMode.UNSPECIFIED) state.mode = message.mode;
  if (workspacePaths.length > 0) state.previousWorkspaceUris = workspacePaths.map(fileUri);
  state.conversationStartedTimestampMs ??= BigInt(now);
  if (context?.env?.timeZone) state.conversationStartedTimeZone ??= context.env.timeZone;
  await turn.publish();
  await loop(turn);
}

/** Gives every pending call a result: the ledger's, the client's own, else that it was interrupted. Nothing runs. */
async function closePending(turn: Turn, action: UserMessageAction, batch: PendingBatch): Promise<void> {
  const { checkpoint, blobs, services, tools } = turn.parts;
  turn.turns = await Turns.resume(blobs, checkpoint.state.turns);
  const resolutions = clientResolutions(action.interruptedPendingToolCallResolutions);
  const calls = pendingCalls(tools, batch).map(call => {
    const known =
      call.tool && resolutions.get(call.callId)?.(call.tool, call.args, { callId: call.callId, facts: services.facts });
    return known ? { ...call, known } : call;
  });
  await turn.settle(batch.message, await runRound(calls, services, 'ledger'));
  turn.turns = Turns.after(blobs, turn.turns.references());
}

const fileUri = (path: string) => 'file://' + path.split('/').map(encodeURIComponent).join('/');
