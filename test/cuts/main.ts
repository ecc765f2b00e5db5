import { parseArgs } from 'node:util';
import { KINDS, SIDES, parseCutName, spread } from './cut.ts';
import type { Cut } from './cut.ts';
import { doubleCuts, playCuts, playUncut, singleCuts } from './series.ts';

const USAGE = 'usage: npm run cuts -- [--limit N] [--seed N] [--double N] [--conversation NAME] [--only CUT]\n';

/** Pairs of cuts played beside every single one. */
const DOUBLE = 4_000;

const { values } = parseArgs({
  options: {
    limit: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    double: { type: 'string', default: String(DOUBLE) },
    conversation: { type: 'string' },
    only: { type: 'string' },
  },
});
const [limit, seed, double] = [Number(values.limit), Number(values.seed), Number(values.double)];
if (!(limit >= 1) || !Number.isInteger(seed) || !(double >= 0)) {
  process.stderr.write(USAGE);
  process.exit(2);
}

const startedAt = performance.now();
const uncut = await playUncut();
const cuts = choose();
const counts = new Map<string, number>();
let played = 0;
const failures = await playCuts(uncut, cuts, ({ cut, isCut, failure }) => {
  for (const { kind, side } of cut.then && isCut ? [cut, cut.then] : [cut]) {
    counts.set(`${kind} ${side}`, (counts.get(`${kind} ${side}`) ?? 0) + 1);
  }
  if (failure) process.stdout.write(`${failure.text}\n`);
  if (++played % 2_000 === 0) process.stderr.write(`${played} of ${cuts.length} cuts, ${seconds()} s\n`);
});
process.stdout.write(`${''.padEnd(10)}${SIDES.map(side => side.padStart(8)).join('')}\n`);
for (const kind of KINDS)
  process.stdout.write(
    `${kind.padEnd(10)}${SIDES.map(side => String(counts.get(`${kind} ${side}`) ?? 0).padStart(8)).join('')}\n`,
  );
process.stdout.write(`${cuts.length} cuts, ${failures.length} violations, ${seconds()} s, --seed ${seed}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

function choose(): Cut[] {
  if (values.only !== undefined) return [parseCutName(values.only)];
  const all = [...singleCuts(uncut), ...doubleCuts(uncut, double, seed)];
  const mine =
    values.conversation === undefined ? all : all.filter(({ conversation }) => conversation === values.conversation);
  return spread(mine, limit);
}

function seconds(): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}
