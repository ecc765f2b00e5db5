import type { Figure } from './figure.ts';
import type { PacedResult } from './paced-load.ts';
import { cpuMs, pause, pinToCore, serve, startWorker } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const STREAMS = 100;
const PER_SECOND = 50;
const MS = 8_000;

/** What the server adds to each delta of many runs at once, with the server on one core and everything else on another. */
export async function measureLatency(repetitions: number): Promise<Figure> {
  const load = startWorker('paced-load.ts');
  const { baseUrl } = await load.answer<{ baseUrl: string }>();
  const served = await serve(scriptedConfig(baseUrl));
  pinToCore(served.pid, 0);
  pinToCore(load.pid, 1);
  const p99: number[] = [];
  const others: string[] = [];
  try {
    for (let i = -1; i < repetitions; i++) {
      await load.ask({ open: { streams: STREAMS, url: served.url } });
      await pause(500);
      const before = cpuMs(served.pid);
      const {
        latencies,
        cpuMs: busyMs,
        ms,
      } = await load.ask<PacedResult>({ speak: { perSecond: PER_SECOND, ms: MS } });
      if (i < 0) continue; // the first one warms up
      const at = (part: number) => latencies[Math.floor(latencies.length * part)]!;
      p99.push(at(0.99));
      others.push(
        `p50 ${at(0.5).toFixed(1)} ms, latest ${latencies.at(-1)!.toFixed(0)} ms, server busy ${percent(cpuMs(served.pid) - before, ms)}, provider and clients ${percent(busyMs, ms)}`,
      );
    }
  } finally {
    await Promise.all([load.stop(), served.stop()]);
  }
  return {
    name: 'added latency, 99th percentile',
    workload: `${STREAMS} runs, ${PER_SECOND} deltas a second each, ${MS / 1000} s, the server on one core; from the write of the provider to the frame at the client, both in one process on the other core`,
    unit: 'ms',
    ours: p99,
    target: { mostOurs: 50 },
    notes: others,
  };
}

const percent = (part: number, whole: number) => `${Math.round((part / whole) * 100)} %`;
