import { parseArgs } from 'node:util';
import { measureDownlink } from './downlink.ts';
import type { Figure } from './figure.ts';
import { meetsTarget, printFigure, ratioOf, spreadOf } from './figure.ts';
import { measureIdle } from './idle.ts';
import { measureLargeMessages } from './large-messages.ts';
import { measureNewBlobs } from './new-blobs.ts';
import { measureStartUp } from './start-up.ts';

const measures: Record<string, (repetitions: number) => Promise<Figure[]>> = {
  downlink: async repetitions => [await measureDownlink(1, repetitions), await measureDownlink(20, repetitions)],
  idle: async repetitions => [await measureIdle(Math.min(repetitions, 3))],
  'start-up': async repetitions => [await measureStartUp(repetitions)],
  'large-messages': async repetitions => measureLargeMessages(Math.min(repetitions, 3)),
  'new-blobs': async () => [await measureNewBlobs()],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, repetitions: { type: 'string', default: '5' } },
});
const unknown = positionals.filter(name => !Object.hasOwn(measures, name));
const repetitions = Number(values.repetitions);
if (unknown.length > 0 || !(repetitions >= 1)) {
  process.stderr.write(`usage: npm run bench -- [--json] [--repetitions N] [${Object.keys(measures).join('] [')}]\n`);
  process.exit(2);
}

for (const [name, measure] of Object.entries(measures)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  for (const figure of await measure(repetitions)) {
    const { ours, limit } = figure;
    const summary = {
      ...figure,
      ours: { ...spreadOf(ours), values: ours },
      ...(limit ? { limit: { ...limit, ...spreadOf(limit.values) }, ratio: ratioOf(figure) } : {}),
      reached: meetsTarget(figure),
    };
    process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : `${printFigure(figure)}\n\n`);
  }
}
