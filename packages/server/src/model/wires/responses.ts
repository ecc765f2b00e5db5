import { ResponsesAnswer } from './responses-answer.ts';
import { writeResponsesBody } from './responses-request.ts';
import type { Wire } from './wire.ts';

/** OpenAI Responses. */
export const responsesWire: Wire = {
  pathOf: () => '/responses',
  bodyOf: writeResponsesBody,
  startAnswer: info => new ResponsesAnswer(info),
};
