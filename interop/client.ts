// The client half of one scenario: node client.ts SCENARIO ACT MODEL, in the workspace. Prints one JSON object a line.
import { Agent, Cursor } from '@cursor/sdk';
import type { SDKMessage } from '@cursor/sdk';
import type { ClientLine } from './client-process.ts';
import type { Report, Stage } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

/** Longer texts are cut in what is reported: no check reads them, and a big prompt comes back in an event. */
const TEXT_CHARACTERS = 20_000;

const [name, act = '0', model = ''] = process.argv.slice(2);
const apiKey = 'interop-key';
const workspace = process.cwd();

function print(line: ClientLine): Promise<void> {
  const text = JSON.stringify(line, (_key, value: unknown) => {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'string' && value.length > TEXT_CHARACTERS ? value.slice(0, TEXT_CHARACTERS) : value;
  });
  return new Promise(resolve => process.stdout.write(`${text}\n`, () => resolve()));
}

const stage: Stage = {
  workspace,
  earlier: JSON.parse(process.env['INTEROP_EARLIER'] ?? '[]') as Report[],
  createAgent: local => Agent.create({ apiKey, model: { id: model }, local: { cwd: workspace, ...local } }),
  resumeAgent: agentId => Agent.resume(agentId, { apiKey, model: { id: model }, local: { cwd: workspace } }),
  listModels: () => Cursor.models.list({ apiKey }),
  async drive(agent, prompt, onEvent) {
    const events: SDKMessage[] = [];
    try {
      const run = await agent.send(prompt);
      for await (const event of run.stream()) {
        events.push(event);
        await print({ event });
        onEvent?.(event, () => run.cancel());
      }
      return { events, result: await run.wait() };
    } catch (error) {
      return { events, failure: error instanceof Error ? error.message : String(error) };
    }
  },
};

const scenario = scenarios.find(candidate => candidate.name === name);
const run = scenario?.acts[Number(act)];
if (!run) throw new Error(`no act ${act} of ${name}`);
await print({ report: await run(stage) });
// the SDK keeps timers and sockets of its own
process.exit(0);
