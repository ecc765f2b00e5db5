import { ChatAnswer } from './chat-answer.ts';
import { writeChatBody } from './chat-request.ts';
import type { Wire } from './wire.ts';

/** OpenAI chat completions, as many others speak it too. */
export const chatWire: Wire = {
  pathOf: () => '/chat/completions',
  bodyOf: writeChatBody,
  startAnswer: info => new ChatAnswer(info),
};
