import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario.ts';
import { finalText, sendPrompts, settledCards, toolResults } from './witness.ts';

/** Turns with tools that the client runs. */
export const toolScenarios: readonly Scenario[] = [
  {
    name: 'read',
    answers: [{ calls: [{ name: 'Read', args: { path: 'a.txt' } }] }, { text: 'it says hi' }],
    acts: [sendPrompts('Quote a.txt.')],
    check(witness) {
      assert.equal(finalText(witness), 'it says hi');
      assert.match(toolResults(witness, 1).join(), /hi file[^]*second line/);
      assert.equal(settledCards(witness.runs[0], 'read').length, 1);
    },
  },
  {
    name: 'missing-file',
    answers: [{ calls: [{ name: 'Read', args: { path: 'nowhere.txt' } }] }, { text: 'there is none' }],
    acts: [sendPrompts('Quote nowhere.txt.')],
    check(witness) {
      assert.equal(finalText(witness), 'there is none');
      assert.match(toolResults(witness, 1).join(), /nowhere\.txt/);
      assert.match(toolResults(witness, 1).join(), /not.?found|no such|does not exist/i);
    },
  },
  {
    name: 'write',
    answers: [
      { calls: [{ name: 'Write', args: { path: 'new/made.txt', contents: 'potato salad\n' } }] },
      { text: 'made' },
    ],
    acts: [sendPrompts('Make a file.')],
    check(witness) {
      assert.equal(finalText(witness), 'made');
      assert.equal(readFileSync(join(witness.workspace, 'new/made.txt'), 'utf8'), 'potato salad\n');
      assert.equal(settledCards(witness.runs[0], 'edit').length, 1);
    },
  },
  {
    name: 'shell',
    answers: [
      { calls: [{ name: 'Shell', args: { command: 'echo out-$((6*7)); echo bad >&2; exit 3' } }] },
      { text: 'it failed' },
    ],
    acts: [sendPrompts('Run it.')],
    check(witness) {
      assert.equal(finalText(witness), 'it failed');
      const [told = ''] = toolResults(witness, 1);
      for (const part of [/out-42/, /bad/, /\b3\b/]) assert.match(told, part);
      assert.equal(settledCards(witness.runs[0], 'shell').length, 1);
    },
  },
  {
    name: 'parallel',
    answers: [
      {
        calls: [
          { name: 'Read', args: { path: 'a.txt' } },
          { name: 'Shell', args: { command: 'echo par-$((1+1))' } },
        ],
      },
      { text: 'both done' },
    ],
    acts: [sendPrompts('Do both.')],
    check(witness) {
      assert.equal(finalText(witness), 'both done');
      const [read = '', shell = ''] = toolResults(witness, 1);
      assert.match(read, /hi file/);
      assert.match(shell, /par-2/);
    },
  },
  {
    name: 'custom-tool',
    answers: request => {
      if (request.number > 0) return { text: 'the sum is told' };
      const tool = request.body.tools?.find(({ function: { name } }) => name.endsWith('add'));
      return { calls: [{ name: tool?.function.name ?? 'no tool called add is offered', args: { a: 2, b: 40 } }] };
    },
    acts: [
      async stage => {
        const agent = await stage.createAgent({
          customTools: {
            add: {
              description: 'Adds two numbers.',
              inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
              execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
            },
          },
        });
        const run = await stage.drive(agent, 'Add 2 and 40.');
        agent.close();
        return { runs: [run] };
      },
    ],
    check(witness) {
      assert.equal(finalText(witness), 'the sum is told');
      assert.match(toolResults(witness, 1).join(), /"sum": ?42/);
      assert.equal(settledCards(witness.runs[0], 'mcp').length, 1);
    },
  },
];
