import assert from 'node:assert/strict';
import type { Scenario } from '../scenario.ts';
import { answerScenarios } from './answers.ts';
import { conversationScenarios } from './conversation.ts';
import { toolScenarios } from './tools.ts';

/** What is played again over TLS: there the SDK uses Run over HTTP/2, both directions on one call. */
const AGAIN = new Set(['hello', 'read', 'write', 'shell', 'parallel', 'two-turns']);

export const secureScenarios: readonly Scenario[] = [...answerScenarios, ...toolScenarios, ...conversationScenarios]
  .filter(({ name }) => AGAIN.has(name))
  .map(scenario => ({
    ...scenario,
    name: `secure-${scenario.name}`,
    secure: true,
    async check(witness) {
      assert.match(witness.server.url, /^https:/);
      await scenario.check(witness);
    },
  }));
