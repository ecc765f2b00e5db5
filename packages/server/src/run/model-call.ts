import type { Card } from '../tools/tool.ts';
import { streamWithFallback } from '../model/fallback.ts';
import type { Usage } from '../model/port.ts';
import type { Retry } from '../model/retry.ts';
import { Answer } from './answer.ts';
import type { AnswerCall, Shown } from './answer.ts';
import type { Turn } from './turn.ts';

/** The longest key that a provider's cache takes. */
const CACHE_KEY_CHARACTERS = 64;

/** One model call, shown while it streams. A run without a reader starts none (R19), and one that does not keep up slows it. */
export async function callModel(turn: Turn, modelCallId: string): Promise<Answer> {
  const { outbox, services, identity, callLimits, parameters, history, tools, account, requestId } = turn.parts;
  const { clock, signal, log } = services;
  await turn.parts.meter.check();
  await outbox.reader();
  signal.throwIfAborted();
  account.modelCalls++;
  const answer = new Answer(() => identity.callId());
  let told: Usage | undefined;
  const show = shower(turn, modelCallId);
  const request = {
    messages: await turn.images.fit(history.messages),
    tools: tools.definitions,
    parameters,
    signal,
    onUsage: (usage: Usage) => (told = usage),
    cacheKey: turn.parts.request.conversationId?.slice(0, CACHE_KEY_CHARACTERS),
  };
  const onRetry = ({ fault, ...about }: Retry) => {
    account.retries++;
    log.warn({ requestId, ...about, detail: fault.detail }, 'a model call is tried again');
  };
  const events = streamWithFallback(
    turn.answering,
    request,
    { clock, identity, limits: callLimits, onRetry },
    (next, fault) => {
      log.warn(
        { requestId, from: turn.answering.info.key, to: next.info.key, detail: fault.detail },
        'another model stands in',
      );
      turn.answering = next;
      account.modelKey = next.info.key;
      turn.update({
        case: 'routedModel',
        value: { $typeName: 'agent.v1.RoutedModelUpdate', displayName: next.info.name },
      });
    },
  );
  try {
    for await (const event of events) {
      signal.throwIfAborted();
      for (const shown of answer.push(event, clock.now())) {
        account.outputShown(clock.now());
        show(shown);
      }
      const wait = outbox.ready();
      if (wait) await wait;
    }
  } finally {
    await recordCall(turn, answer, told);
  }
  const usage = answer.finish?.usage ?? {};
  signal.throwIfAborted();
  account.addUsage(usage);
  turn.lastUsage = usage;
  if (usage.outputTokens)
    turn.update({ case: 'tokenDelta', value: { $typeName: 'agent.v1.TokenDeltaUpdate', tokens: usage.outputTokens } });
  return answer;
}

/**
 * Writes down what a call used, whether it came to its end or was cut: a provider bills what it wrote before a person cancelled. A
 * call that nothing came of is not written down.
 */
async function recordCall(turn: Turn, answer: Answer, told: Usage | undefined): Promise<void> {
  const { account, meter, services, requestId } = turn.parts;
  const isWhole = answer.finish !== undefined && answer.finish.reason !== 'missing';
  if (!isWhole && told === undefined && answer.parts.length === 0) return;
  const reported = answer.finish?.usage;
  const isKnown = isWhole || reported?.inputTokens !== undefined;
  const usage = isKnown ? (reported ?? {}) : turn.usageOfCut(answer, told);
  const { info } = turn.answering;
  if (!isKnown)
    services.log.info({ requestId, model: info.key, ...usage }, 'a model call was cut, its usage is estimated');
  account.addCost(await meter.record(usage, info));
}

/** Shows what an answer gives, piece by piece: text, thinking, and cards that fill (§16). */
function shower(turn: Turn, modelCallId: string): (shown: Shown) => void {
  const { outbox, services } = turn.parts;
  const { cards, facts } = services;
  /** Cards without arguments, sent with every piece of argument text. */
  const empty = new Map<AnswerCall, Card>();
  return shown => {
    switch (shown.show) {
      case 'text':
        outbox.appendText('textDelta', shown.text);
        break;
      case 'thinking':
        outbox.appendText('thinkingDelta', shown.text);
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
