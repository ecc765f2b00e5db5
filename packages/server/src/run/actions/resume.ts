import { fault } from '@tandem/protocol';
import type { PendingBatch } from '../../conversation/pending-calls.ts';
import { Turns } from '../../conversation/turns.ts';
import { loop } from '../loop.ts';
import { interruptedNote } from '../note.ts';
import { addChangedWorkspace, addPrompt } from '../prompt.ts';
import { pendingCalls, runRound } from '../tool-round.ts';
import type { Turn } from '../turn.ts';

/** `resume_action`: goes on where a checkpoint stood; runs what is pending, repeats nothing that has a result (R48, R49, F65). */
export async function resumeAction(
  turn: Turn,
  pending: { batch: PendingBatch | undefined; unreadable: number },
): Promise<void> {
  const { history, checkpoint, blobs, services, tools, request, identity, account } = turn.parts;
  if (history.messages.length === 0) {
    throw fault(
      'bad_request',
      'resume_action came without a conversation: its state holds no messages. Send a user_message_action.',
    );
  }
  turn.turns = await Turns.resume(blobs, checkpoint.state.turns);
  if (history.messages[0]?.role !== 'system') addPrompt(history, request, undefined, services.clock.now());
  const { batch, unreadable } = pending;
  if (batch) {
    const modelCallId = identity.uuid();
    const calls = pendingCalls(tools, batch);
    for (const call of calls) turn.startCard(call, modelCallId);
    account.toolsStarted(calls.length);
    await turn.settle(batch.message, await runRound(calls, services, 'replay'));
    await turn.publish();
  } else if (unreadable > 0) {
    history.append(interruptedNote());
    checkpoint.state.pendingToolCalls = [];
  } else if (history.turnIsOver) {
    await turn.publish(); // the answer was there already; only its end had been lost
    return;
  }
  addChangedWorkspace(history, request, services.facts.context, services.clock.now());
  await loop(turn);
}
