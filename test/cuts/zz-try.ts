import { play } from './play.ts';
import { conversations } from './conversations/all.ts';
const c = conversations.get(process.argv[2]!)!;
const p = await play(c);
const n = Number(process.argv[3] ?? 20);
const t=performance.now(), u=process.cpuUsage(); for (let i=0;i<n;i++) await play(c,{uncut:p});
const d=process.cpuUsage(u); console.log('wall',(performance.now()-t)/n, 'cpu', (d.user+d.system)/1000/n);
