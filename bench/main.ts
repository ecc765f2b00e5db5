import { parseArgs } from 'node:util';
import { compareToBaseline, readBaseline, saveBaseline, summaryOf } from './baseline.ts';
import type { Summary } from './baseline.ts';
import { measureClientGrep } from './client-grep.ts';
import { measureClientReads } from './client-reads.ts';
import { measureClientRender } from './client-render.ts';
import { measureClientShell } from './client-shell.ts';
import { measureClientStart } from './client-start.ts';
import { measureClientStore } from './client-store.ts';
import { measureDeltas } from './deltas.ts';
import { measureDownlink } from './downlink.ts';
import type { Figure } from './figure.ts';
import { printFigure } from './figure.ts';
import { measureIdle } from './idle.ts';
import { measureLargeMessages } from './large-messages.ts';
import { measureLatency } from './latency.ts';
import { measureLongConversation } from './long-conversation.ts';
import { measureNewBlobs } from './new-blobs.ts';
import { measureStartUp } from './start-up.ts';

const measures: Record<string, (repetitions: number) => Promise<Figure[]>> = {
  'downlink-h1': async repetitions => [
    await measureDownlink('h1', 1, repetitions),
    await measureDownlink('h1', 20, repetitions),
  ],
  'downlink-h2c': async repetitions => [
    await measureDownlink('h2c', 1, repetitions),
    await measureDownlink('h2c', 20, repetitions),
  ],
  deltas: async repetitions => [await measureDeltas(Math.min(repetitions, 3))],
  idle: async repetitions => [await measureIdle(Math.min(repetitions, 3))],
  'start-up': measureStartUp,
  'client-start': measureClientStart,
  'client-render': async () => [await measureClientRender()],
  'client-reads': async repetitions => [await measureClientReads(repetitions)],
  'client-grep': measureClientGrep,
  'client-shell': async repetitions => [await measureClientShell(Math.min(repetitions, 3))],
  'client-store': measureClientStore,
  latency: async repetitions => [await measureLatency(Math.min(repetitions, 3))],
  'large-messages': async repetitions => [await measureLargeMessages(Math.min(repetitions, 3))],
  'long-conversation': async repetitions => [await measureLongConversation(Math.min(repetitions, 3))],
  'new-blobs': async () => [await measureNewBlobs()],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    repetitions: { type: 'string', default: '5' },
  },
});
const unknown = positionals.filter(name => !Object.hasOwn(measures, name));
const repetitions = Number(values.repetitions);
if (unknown.length > 0 || !(repetitions >= 1)) {
  process.stderr.write(
    `usage: npm run bench -- [--json] [--save] [--repetitions N] [${Object.keys(measures).join('] [')}]\n`,
  );
  process.exit(2);
}

const baseline = readBaseline();
const summaries: Summary[] = [];
for (const [name, measure] of Object.entries(measures)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  for (const figure of await measure(repetitions)) {
    const summary = summaryOf(figure);
    summaries.push(summary);
    const before = compareToBaseline(summary, baseline.get(summary.name));
    process.stdout.write(
      values.json ? `${JSON.stringify(summary)}\n` : `${[printFigure(figure), before ?? []].flat().join('\n')}\n\n`,
    );
  }
}
if (values.save) saveBaseline(summaries);
