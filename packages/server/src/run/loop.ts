import { Fault, fault } from '@tandem/protocol';
import type { InjectContextAction } from '@tandem/protocol/agent';
import type { ModelMessage } from '@tandem/protocol/message';
import type { RunBlobs } from '../conversation/blobs.ts';
import { writePending } from '../conversation/pending-calls.ts';
import { MODEL_CALLS_PER_TURN } from '../limits.ts';
import type { Answer } from './answer.ts';
import { decide, noAnswersYet } from './decide.ts';
import { callModel } from './model-call.ts';
import { noteMessage } from './note.ts';
import { readCall, runRound } from './tool-round.ts';
import type { RoundCall } from './tool-round.ts';
import type { Turn } from './turn.ts';
import { userModelMessage } from './user-message.ts';

const CUT_CALL =
  'The output limit was reached before this call was complete, so it did not run. Make it again with shorter arguments, or in several smaller steps.';
const GO_ON = 'Your answer was cut by the output limit. Go on exactly where it stopped, without repeating anything.';

/** Calls the model and runs its tools until it has answered; the last checkpoint is published when this resolves (part 4). */
export async function loop(turn: Turn): Promise<void> {
  const { history, tools, account, identity, services } = turn.parts;
  let counts = noAnswersYet;
  for (;;) {
    if (account.modelCalls >= MODEL_CALLS_PER_TURN) {
      throw fault(
        'provider_refused_request',
        `The model did not come to an end within ${MODEL_CALLS_PER_TURN} calls. Send a message to let it go on.`,
        {
          title: 'Turn too long',
        },
      );
    }
    await deliverInjections(turn);
    const modelCallId = identity.uuid();
    const answer = await callModel(turn, modelCallId);
    const calls = answer.calls.map(({ callId, name, args }) => readCall(tools, callId, name, args));
    const decided = decide(
      {
        reason: answer.finish?.reason ?? 'missing',
        hasText: answer.text.trim() !== '',
        calls: calls.length,
        usableCalls: calls.filter(call => call.refusal === undefined).length,
      },
      counts,
    );
    counts = decided.counts;
    const { decision } = decided;
    switch (decision.next) {
      case 'fail':
        throw decision.fault;
      case 'call-again':
        break;
      case 'run-tools':
        await runTools(turn, answer, calls, modelCallId);
        break;
      case 'refuse-cut-calls':
        await runTools(
          turn,
          answer,
          calls.map(call => ({ ...call, refusal: CUT_CALL })),
          modelCallId,
        );
        break;
      case 'continue-text':
        await keepText(turn, answer);
        history.append(noteMessage('continue', GO_ON));
        await turn.publish();
        break;
      case 'end':
      case 'end-without-calls':
        services.cards.closeAll('The call did not run: the answer ended before it.');
        if (decision.notice !== undefined) turn.notice(decision.notice);
        await keepText(turn, answer);
        await turn.publish();
        return;
    }
  }
}

/** Takes what was injected meanwhile into the history, right before the model is asked (R65). */
async function deliverInjections({ parts: { injections, history, services, blobs } }: Turn): Promise<void> {
  for (let action = injections.first; action; action = injections.first) {
    try {
      history.append(await injectedMessage(action, blobs));
    } catch (error) {
      if (!(error instanceof Fault) || error.name_ !== 'blob_missing') throw error;
      injections.rejected(action, error.detail);
      continue;
    }
    injections.delivered(action, services.clock.now());
  }
}

async function injectedMessage({ payload }: InjectContextAction, blobs: RunBlobs): Promise<ModelMessage> {
  if (payload.case === 'userContext' && payload.value.userMessage)
    return userModelMessage(payload.value.userMessage, blobs);
  return { role: 'user', content: payload.case === 'systemContext' ? payload.value.content : '' };
}

/** A round of tools: cards start, the pending batch is published, the calls run, then results and history are published. */
async function runTools(turn: Turn, answer: Answer, calls: readonly RoundCall[], modelCallId: string): Promise<void> {
  const { checkpoint, account, services } = turn.parts;
  const argsById = new Map(calls.map(call => [call.callId, call.args]));
  const message: ModelMessage = {
    role: 'assistant',
    content: answer.messageParts(turn.answering.info.key, call => argsById.get(call.callId) ?? {}),
  };
  for (const call of calls) turn.startCard(call, modelCallId);
  account.toolsStarted(calls.length);
  if (calls.some(call => call.refusal === undefined)) {
    const refusals = Object.fromEntries(
      calls.flatMap(({ callId, refusal }) => (refusal === undefined ? [] : [[callId, refusal]])),
    );
    checkpoint.state.pendingToolCalls = [writePending({ message, startedAtMs: services.clock.now(), refusals })];
    await checkpoint.publish();
  }
  await turn.settle(message, await runRound(calls, services, 'ask'));
  await turn.publish();
}

/** The text of an answer whose calls, if any, do not count. */
async function keepText(turn: Turn, answer: Answer): Promise<void> {
  const content = answer.messageParts(turn.answering.info.key, () => ({})).filter(part => part.type !== 'tool-call');
  await turn.keepAnswer({ role: 'assistant', content });
}
