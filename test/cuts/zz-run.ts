import { play } from './play.ts';
import { conversations } from './conversations/all.ts';
import { cutsOf, cutName, spread, parseCutName } from './cut.ts';
const [, , name, n, only] = process.argv;
const c = conversations.get(name!)!;
const uncut = await play(c);
console.log(uncut.points, uncut.violations);
const cuts = only ? [parseCutName(only)] : spread(cutsOf(name!, uncut.points), Number(n));
let bad = 0; const t = performance.now(), u = process.cpuUsage();
for (const cut of cuts) {
  const p = await play(c, { cut, uncut });
  if (!p.isCut) console.log('NOT CUT', cutName(cut));
  if (p.violations.length) { bad++; console.log(cutName(cut)); for (const v of p.violations.slice(0,3)) console.log('   ', v.slice(0,900)); }
}
const d = process.cpuUsage(u);
console.log(name, cuts.length, 'bad', bad, ((performance.now() - t) / cuts.length).toFixed(1), 'ms each', ((d.user+d.system)/1000/cuts.length).toFixed(1), 'cpu');
if (process.argv[5]) {
  const { seededRandom, SIDES, KINDS, VARIANTS } = await import('./cut.ts');
  const r = seededRandom(Number(process.argv[5]));
  const all = cutsOf(name!, uncut.points).filter(c => ['drop','close','restart'].includes(c.kind));
  for (let i = 0; i < Number(n); i++) {
    const kind = KINDS[Math.floor(r()*KINDS.length)]!;
    const cut = { ...all[Math.floor(r()*all.length)]!, then: { side: SIDES[Math.floor(r()*4)]!, index: Math.floor(r()*12), kind, variant: Math.floor(r()*VARIANTS[kind]) } };
    const p = await play(c, { cut, uncut });
    if (p.violations.length) { console.log(cutName(cut)); for (const v of p.violations.slice(0,2)) console.log('   ', v.slice(0,900)); }
  }
  console.log('double done');
}
