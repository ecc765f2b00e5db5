import { GeminiAnswer } from './gemini-answer.ts';
import { writeGeminiBody } from './gemini-request.ts';
import type { Wire } from './wire.ts';

/** Google Gemini, also at a project of Vertex AI. */
export const geminiWire: Wire = {
  pathOf: modelId => `/models/${encodeURIComponent(modelId)}:streamGenerateContent?alt=sse`,
  bodyOf: writeGeminiBody,
  startAnswer: info => new GeminiAnswer(info),
};
