import assert from 'node:assert/strict';
import type { Scenario } from '../scenario.ts';
import { finalText, promptText, sendPrompts } from './witness.ts';

/** What one turn knows of those before it. */
export const conversationScenarios: readonly Scenario[] = [
  {
    name: 'two-turns',
    answers: [{ text: 'noted' }, { text: 'walrus' }],
    acts: [sendPrompts('My codeword is walrus.', 'What is my codeword?')],
    check(witness) {
      assert.equal(finalText(witness, 1), 'walrus');
      assert.match(promptText(witness, 1), /My codeword is walrus\.[^]*noted[^]*What is my codeword\?/);
    },
  },
  {
    name: 'resume-in-a-new-process',
    answers: [{ calls: [{ name: 'Read', args: { path: 'a.txt' } }] }, { text: 'read and noted' }, { text: 'walrus' }],
    acts: [
      sendPrompts('My codeword is walrus. Read a.txt.'),
      async stage => {
        const agent = await stage.resumeAgent(stage.earlier[0]?.agentId ?? '');
        const run = await stage.drive(agent, 'What is my codeword?');
        agent.close();
        return { runs: [run] };
      },
    ],
    check(witness) {
      assert.equal(finalText(witness, 1), 'walrus');
      assert.match(promptText(witness, 2), /codeword is walrus[^]*hi file[^]*read and noted[^]*What is my codeword\?/);
    },
  },
];
