import type { Card } from '../tools/tool.ts';
import { streamWithRetry } from '../model/retry.ts';
import { Answer } from './answer.ts';
import type { AnswerCall, Shown } from './answer.ts';
import type { Turn } from './turn.ts';

/** One model call, shown while it streams. A run without a reader starts none (R19), and one that does not keep up slows it. */
export async function callModel(turn: Turn, modelCallId: string): Promise<Answer> {
  const { outbox, services, identity, callLimits, model, parameters, history, tools, account, requestId } = turn.parts;
  const { clock, signal, log } = services;
  await outbox.reader();
  signal.throwIfAborted();
  account.modelCalls++;
  const answer = new Answer(() => identity.callId());
  const show = shower(turn, modelCallId);
  const request = { messages: [...history.messages], tools: tools.definitions, parameters, signal };
  const events = streamWithRetry(model, request, {
    clock,
    identity,
    limits: callLimits,
    onRetry: ({ fault, ...about }) => {
      account.retries++;
      log.warn({ requestId, ...about, detail: fault.detail }, 'a model call is tried again');
    },
  });
  for await (const event of events) {
    signal.throwIfAborted();
    for (const shown of answer.push(event, clock.now())) {
      account.outputShown(clock.now());
      show(shown);
    }
    const wait = outbox.ready();
    if (wait) await wait;
  }
  signal.throwIfAborted();
  const usage = answer.finish?.usage ?? {};
  account.addUsage(usage);
  turn.lastUsage = usage;
  if (usage.outputTokens)
    turn.update({ case: 'tokenDelta', value: { $typeName: 'agent.v1.TokenDeltaUpdate', tokens: usage.outputTokens } });
  return answer;
}

/** Shows what an answer gives, piece by piece: text, thinking, and cards that fill (§16). */
function shower(turn: Turn, modelCallId: string): (shown: Shown) => void {
  const { cards, facts } = turn.parts.services;
  /** Cards without arguments, sent with every piece of argument text. */
  const empty = new Map<AnswerCall, Card>();
  return shown => {
    switch (shown.show) {
      case 'text':
        turn.update({
          case: 'textDelta',
          value: { $typeName: 'agent.v1.TextDeltaUpdate', text: shown.text, isServerNotice: false },
        });
        break;
      case 'thinking':
        turn.update({ case: 'thinkingDelta', value: { $typeName: 'agent.v1.ThinkingDeltaUpdate', text: shown.text } });
        break;
      case 'thinking-end':
        turn.update({
          case: 'thinkingCompleted',
          value: { $typeName: 'agent.v1.ThinkingCompletedUpdate', thinkingDurationMs: shown.durationMs },
        });
        break;
      case 'call': {
        const { callId, name } = shown.call;
        const tool = turn.parts.tools.find(name);
        if (!tool) break; // it has no card; the model learns the valid names (R62)
        const context = { callId, facts };
        const card = tool.open({}, context);
        empty.set(shown.call, card);
        cards.partial(callId, modelCallId, card, text => tool.close({}, text, context));
        break;
      }
      case 'args': {
        const card = empty.get(shown.call);
        if (card) cards.argsText(shown.call.callId, card, shown.text);
        break;
      }
    }
  };
}
