import { AwsEventDecoder } from './aws-event-stream.ts';
import { ConverseAnswer } from './converse-answer.ts';
import { writeConverseBody } from './converse-request.ts';
import type { Wire } from './wire.ts';

/** Amazon Bedrock Converse. */
export const converseWire: Wire = {
  pathOf: modelId => `/model/${encodeURIComponent(modelId)}/converse-stream`,
  bodyOf: writeConverseBody,
  startAnswer: info => new ConverseAnswer(info),
  startDecoder: () => new AwsEventDecoder(),
};
