import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario.ts';
import { finalText, isCard, promptText, toolResults } from './witness.ts';

const QUICK = 'echo once >> quick.txt; echo quick-done';
/** Waits for a file that the scenario writes once the server is back. */
const SLOW = 'touch slow-started; while [ ! -e go ]; do sleep 0.1; done; echo slow-done';

/** The server dies between the answers of two parallel tools. */
export const restartScenarios: readonly Scenario[] = [
  {
    name: 'killed-in-a-tool-round',
    answers: [
      {
        calls: [
          { name: 'Shell', args: { command: QUICK } },
          { name: 'Shell', args: { command: SLOW } },
        ],
      },
      { text: 'both are done' },
      { text: 'nothing is lost' },
    ],
    acts: [
      async stage => {
        const agent = await stage.createAgent();
        const runs = [await stage.drive(agent, 'Do both.')];
        agent.close();
        return { agentId: agent.agentId, runs };
      },
      async stage => {
        const agent = await stage.resumeAgent(stage.earlier[0]?.agentId ?? '');
        const runs = [await stage.drive(agent, 'What was done?')];
        agent.close();
        return { runs };
      },
    ],
    async meanwhile({ workspace, server, untilEvent }) {
      // its card settles only after its result was taken into the ledger and acknowledged
      await untilEvent(
        event => isCard(event) && event.status === 'completed' && JSON.stringify(event).includes('quick-done'),
      );
      assert.ok(existsSync(join(workspace, 'slow-started')), 'the other one runs');
      await server.killAndRestart();
      writeFileSync(join(workspace, 'go'), '');
    },
    check(witness) {
      assert.equal(finalText(witness), 'both are done');
      assert.equal(
        readFileSync(join(witness.workspace, 'quick.txt'), 'utf8'),
        'once\n',
        'the acknowledged tool ran once',
      );
      assert.equal(witness.provider.requests.length, 3, 'no model call was made twice');
      const [quick = '', slow = ''] = toolResults(witness, 1);
      assert.match(quick, /quick-done/);
      assert.match(slow, /slow-done/);
      assert.equal(finalText(witness, 1), 'nothing is lost');
      assert.match(promptText(witness, 2), /Do both\.[^]*quick-done[^]*slow-done[^]*both are done[^]*What was done\?/);
    },
  },
];
