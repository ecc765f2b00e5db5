import type { Scenario } from '../scenario.ts';
import { answerScenarios } from './answers.ts';
import { conversationScenarios } from './conversation.ts';
import { endScenarios } from './ends.ts';
import { restartScenarios } from './restart.ts';
import { secureScenarios } from './secure.ts';
import { toolScenarios } from './tools.ts';

/** All that is run, in this order. */
export const scenarios: readonly Scenario[] = [
  ...answerScenarios,
  ...toolScenarios,
  ...conversationScenarios,
  ...endScenarios,
  ...restartScenarios,
  ...secureScenarios,
];
