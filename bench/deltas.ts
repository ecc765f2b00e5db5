import type { PacedResult } from './paced-load.ts';
import type { Figure } from './figure.ts';
import { spreadOf } from './figure.ts';
import { cpuMs, pause, serve, startWorker } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const STREAMS = 50;
const PER_SECOND = 50;
const MS = 8_000;
const WARM_MS = 4_000;

/** CPU time of the server for one delta, from the bytes of the provider to the frame, against reading the same streams bare. */
export async function measureDeltas(repetitions: number): Promise<Figure> {
  const load = startWorker('paced-load.ts');
  const bare = startWorker('deltas-bare.ts');
  const [{ baseUrl }] = await Promise.all([load.answer<{ baseUrl: string }>(), bare.answer()]);
  const served = await serve(scriptedConfig(baseUrl));
  const ours: number[] = [];
  const limit: number[] = [];
  const loadBusy: number[] = [];
  const speak = (ms: number) => load.ask<PacedResult>({ speak: { perSecond: PER_SECOND, ms } });
  const oneOfOurs = async (ms: number) => {
    await load.ask({ open: { streams: STREAMS, url: served.url } });
    await pause(500); // what opening left to do is not of the stream
    const before = cpuMs(served.pid);
    const { deltas, ms: took, cpuMs: busy } = await speak(ms);
    ours.push(((cpuMs(served.pid) - before) / deltas) * 1000);
    loadBusy.push(busy / took);
  };
  const oneBare = async (ms: number) => {
    const all = load.ask({ open: { streams: STREAMS } });
    await bare.ask({ baseUrl, streams: STREAMS });
    await all;
    await pause(500);
    const before = cpuMs(bare.pid);
    const { deltas } = await speak(ms);
    const read = await bare.ask<{ deltas: number }>('finish');
    if (read.deltas !== deltas) throw new Error(`${read.deltas} of ${deltas} deltas were read bare`);
    limit.push(((cpuMs(bare.pid) - before) / deltas) * 1000);
  };
  try {
    for (let i = -1; i < repetitions; i++) {
      await oneOfOurs(i < 0 ? WARM_MS : MS);
      await oneBare(i < 0 ? WARM_MS : MS);
      if (i >= 0) continue;
      ours.length = limit.length = loadBusy.length = 0;
    }
  } finally {
    await Promise.all([load.stop(), bare.stop(), served.stop()]);
  }
  return {
    name: 'CPU of a delta',
    workload: `${STREAMS} runs, ${PER_SECOND} deltas a second each, one delta a write, ${MS / 1000} s; CPU time of the process for one delta, ends of the runs included`,
    unit: 'µs',
    ours,
    limit: { what: 'fetch, eventsource-parser and JSON.parse of the same streams', values: limit },
    target: { atMost: 3 },
    notes: [`provider and clients together were busy ${Math.round(spreadOf(loadBusy).median * 100)} % of the time`],
  };
}
