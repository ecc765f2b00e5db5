import { AnthropicAnswer } from './anthropic-answer.ts';
import { writeAnthropicBody } from './anthropic-request.ts';
import type { Wire } from './wire.ts';

/** Anthropic Messages. */
export const anthropicWire: Wire = {
  pathOf: () => '/messages',
  bodyOf: writeAnthropicBody,
  startAnswer: info => new AnthropicAnswer(info),
};
