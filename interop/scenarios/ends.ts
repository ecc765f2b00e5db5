import assert from 'node:assert/strict';
import type { Scenario } from '../scenario.ts';
import { finalText, sendPrompts } from './witness.ts';

/** Runs that do not end well, and what the user is told. */
export const endScenarios: readonly Scenario[] = [
  {
    name: 'cancel',
    answers: [{ events: [{ text: 'one, two, ' }, { hang: true }] }, { text: 'back again' }],
    acts: [
      async stage => {
        const agent = await stage.createAgent();
        const first = await stage.drive(agent, 'Count.', (event, cancel) => {
          if (event.type === 'assistant') void cancel();
        });
        const second = await stage.drive(agent, 'Again.');
        agent.close();
        return { runs: [first, second] };
      },
    ],
    async check(witness) {
      assert.equal(witness.runs[0]?.result?.status, 'cancelled');
      assert.deepEqual(await witness.provider.requests[0]?.closed, { early: true }, 'the model call was ended');
      assert.equal(finalText(witness, 1), 'back again');
    },
  },
  {
    name: 'provider-error',
    answers: () => ({ status: { code: 401, message: 'Incorrect API key provided: provider-key-do-not-leak' } }),
    acts: [sendPrompts('Hello.')],
    check({ runs, provider, server }) {
      const [run] = runs;
      assert.equal(run?.result?.status, 'error');
      const told = JSON.stringify(run?.result?.error ?? run?.failure);
      assert.match(told, /401|API key/i);
      assert.equal(provider.requests.length, 1, 'what cannot get better is not tried again');
      for (const text of [JSON.stringify(run), server.output]) assert.doesNotMatch(text, /provider-key-do-not-leak/);
    },
  },
];
