import assert from 'node:assert/strict';
import type { Scenario } from '../scenario.ts';
import { finalText, sendPrompts } from './witness.ts';

/** Turns without tools. */
export const answerScenarios: readonly Scenario[] = [
  {
    name: 'hello',
    answers: [{ text: ['hello-', '42'] }],
    acts: [sendPrompts('Say hello.')],
    check(witness) {
      assert.equal(finalText(witness), 'hello-42');
      const usage = witness.runs[0]?.result?.usage;
      assert.ok((usage?.outputTokens ?? 0) > 0, `usage is told: ${JSON.stringify(usage)}`);
    },
  },
  {
    name: 'thinking',
    answers: [{ reasoning: ['first this, ', 'then that'], text: 'thought' }],
    acts: [sendPrompts('Think.')],
    check(witness) {
      assert.equal(finalText(witness), 'thought');
      const thoughts = (witness.runs[0]?.events ?? []).flatMap(event =>
        event.type === 'thinking' ? [event.text] : [],
      );
      assert.equal(thoughts.join(''), 'first this, then that');
    },
  },
  {
    name: 'models',
    answers: [],
    acts: [async stage => ({ models: await stage.listModels() })],
    check({ reports }) {
      const models = reports[0]?.models ?? [];
      assert.ok(
        models.some(model => model.id === 'test-model' && model.displayName === 'Test model'),
        JSON.stringify(models),
      );
    },
  },
  {
    name: 'big-prompt',
    answers: [{ text: 'read it all' }],
    acts: [
      async stage => {
        const agent = await stage.createAgent();
        const run = await stage.drive(agent, `${'0123456789abcde\n'.repeat((12 * 1024 * 1024) / 16)}the very end`);
        agent.close();
        return { runs: [run] };
      },
    ],
    check(witness) {
      assert.equal(finalText(witness), 'read it all');
      const { text = '' } = witness.provider.requests[0] ?? {};
      assert.ok(text.length > 12 * 1024 * 1024, `the model got ${text.length} bytes`);
      assert.match(text.slice(-200_000), /the very end/);
    },
  },
];
