import type { Catalogue, Model, ModelEvent, ModelInfo, ModelRequest } from '../../packages/server/src/model/port.ts';
import { textOfMessage } from '@tandem/protocol/message';
import type { ModelMessage } from '@tandem/protocol/message';
import type { Conversation, Said } from './conversation.ts';

const info: ModelInfo = {
  key: 'scripted/cut-model',
  provider: 'scripted',
  id: 'cut-model',
  name: 'Cut model',
  contextWindow: 1_000_000,
  maxOutput: 8_000,
  vision: true,
  aliases: [],
  parameters: [],
};

/** What happens around a model call. */
export interface ModelWatch {
  /** The call begins. */
  called(request: ModelRequest): void;
  /** Lets the rest of the process have its turn; never resolves in a process that was killed. */
  tick(): Promise<void>;
}

/** Where in the script a history stands: the turn of its last scripted user message and the answers since. */
function placeIn(conversation: Conversation, messages: readonly ModelMessage[]): { turn: number; answer: number } {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!;
    if (message.role !== 'user') continue;
    const turn = conversation.turns.findIndex(({ says }) => textOfMessage(message) === says);
    if (turn < 0) continue;
    return { turn, answer: messages.slice(index).filter(({ role }) => role === 'assistant').length };
  }
  return { turn: -1, answer: 0 };
}

/**
 * A model without a memory: what it says depends on the history alone, so a call that is made again says the same again.
 * Between two events the rest of the process has its turn, as with a real provider.
 */
export function scriptedCatalogue(conversation: Conversation, watch: ModelWatch): Catalogue {
  const model: Model = {
    info,
    async *stream(request) {
      watch.called(request);
      const { turn, answer } = placeIn(conversation, request.messages);
      const said = conversation.turns[turn]?.answers[answer];
      if (!said) throw new Error(`the script has no answer ${answer} in turn ${turn}`);
      for (const event of eventsOf(said)) {
        await watch.tick();
        yield event;
      }
    },
  };
  return { models: [info], defaultModel: info, resolve: () => ({ model, parameters: {} }) };
}

function eventsOf({ thinking, text, calls = [] }: Said): ModelEvent[] {
  const events: ModelEvent[] = [];
  if (thinking) {
    events.push(...halves(thinking).map((piece): ModelEvent => ({ type: 'reasoning', text: piece })));
    events.push({ type: 'reasoning-end', providerOptions: { scripted: { signature: `signed ${thinking.length}` } } });
  }
  if (text) events.push(...halves(text).map((piece): ModelEvent => ({ type: 'text', text: piece })));
  calls.forEach(({ name, args }, index) => {
    const raw = typeof args === 'string' ? args : JSON.stringify(args);
    const call = { key: String(index), providerId: `provider-${index}`, name };
    events.push({ type: 'tool-start', ...call });
    events.push(...halves(raw).map((piece): ModelEvent => ({ type: 'tool-args', key: call.key, text: piece })));
    events.push({ type: 'tool-call', ...call, args: raw });
  });
  const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 40 };
  events.push({ type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop', usage });
  return events;
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter(piece => piece !== '');
}
