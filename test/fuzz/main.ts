import { parseArgs } from 'node:util';
import { fuzz } from './campaign.ts';
import { saveCrash } from './crash-file.ts';
import { recordSeeds } from './seeds.ts';

const USAGE = 'usage: npm run fuzz -- [--inputs N] [--seed N]\n';

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [inputs, seed] = [Number(values.inputs), Number(values.seed)];
if (!(inputs >= 1) || !Number.isInteger(seed)) {
  process.stderr.write(USAGE);
  process.exit(2);
}

const stray: string[] = [];
process.on('unhandledRejection', error => void stray.push(String(error instanceof Error ? error.stack : error)));

const seeds = await recordSeeds();
const startedAt = performance.now();
const seconds = () => (performance.now() - startedAt) / 1000;
let told = 0;
const result = await fuzz({
  seeds,
  seed,
  inputs,
  onRound(done) {
    if (done - told < 50_000) return;
    told = done;
    process.stderr.write(`${done} inputs, ${Math.round(done / seconds())}/s\n`);
  },
});
for (const crash of result.crashes) process.stdout.write(`${saveCrash(crash)}: ${crash.what}\n`);
for (const error of stray) process.stdout.write(`nobody looked after: ${error}\n`);
const rate = Math.round(result.inputs / seconds());
process.stdout.write(
  `${result.inputs} inputs, ${result.crashes.length} crashes, ${stray.length} stray errors, ${rate}/s, --seed ${seed}\n`,
);
process.exitCode = result.crashes.length + stray.length > 0 ? 1 : 0;
