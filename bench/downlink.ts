import { FRAMES_PER_TICK, FRAME_BYTES, framesOf } from './downlink-load.ts';
import type { Figure } from './figure.ts';
import { spreadOf } from './figure.ts';
import { startWorker } from './process.ts';
import type { Worker } from './process.ts';

interface Round {
  readonly framesPerSecond: number;
  /** Frames for each second of the server's own CPU time: what a busy machine does not spoil. */
  readonly framesPerCpuSecond: number;
  /** The part of the time that the reader was busy; near 1 it would be the reader that is measured. */
  readonly readerBusy: number;
}

async function round(server: Worker, port: number, reader: Worker, streams: number): Promise<Round> {
  await reader.ask({ port, streams });
  const done = reader.answer<{ bytes: number; ms: number; cpuMs: number }>();
  await server.ask({ streams });
  const { bytes, ms, cpuMs } = await done;
  const frames = framesOf(streams) * streams;
  if (bytes < frames * FRAME_BYTES) throw new Error(`${bytes} bytes came, ${frames * FRAME_BYTES} were sent`);
  const { cpuMs: serverMs } = await server.ask<{ cpuMs: number }>({ streams: 0 });
  return {
    framesPerSecond: (frames / ms) * 1000,
    framesPerCpuSecond: (frames / serverMs) * 1000,
    readerBusy: cpuMs / ms,
  };
}

/** The HTTP versions of the downlink. */
export type Protocol = 'h1' | 'h2c';

/** Small frames a second from the server to readers, against a bare server that writes frames which were encoded before. */
export async function measureDownlink(protocol: Protocol, streams: number, repetitions: number): Promise<Figure> {
  const workers = [
    startWorker('downlink-ours.ts'),
    startWorker('downlink-bare.ts', [protocol]),
    startWorker(protocol === 'h1' ? 'stream-reader.ts' : 'stream-reader-h2.ts'),
  ] as const;
  const [ours, bare, reader] = workers;
  const [{ port: oursPort }, { port: barePort }] = await Promise.all([
    ours.answer<{ port: number }>(),
    bare.answer<{ port: number }>(),
    reader.answer(),
  ]);
  const rounds: { ours: Round[]; bare: Round[] } = { ours: [], bare: [] };
  try {
    for (let i = -1; i < repetitions; i++) {
      const one = await round(ours, oursPort, reader, streams);
      const other = await round(bare, barePort, reader, streams);
      if (i < 0) continue; // the first one warms up
      rounds.ours.push(one);
      rounds.bare.push(other);
    }
  } finally {
    await Promise.all(workers.map(worker => worker.stop()));
  }
  const wallRatio = spreadOf(rounds.ours.map((one, i) => one.framesPerSecond / rounds.bare[i]!.framesPerSecond));
  const busy = (of: Round[]) => `${Math.round(spreadOf(of.map(one => one.readerBusy)).median * 100)} %`;
  const perSecond = (of: Round[]) =>
    Math.round(spreadOf(of.map(one => one.framesPerSecond)).median).toLocaleString('en');
  const version = protocol === 'h1' ? 'HTTP/1.1' : 'HTTP/2, one session';
  return {
    name: `downlink, ${protocol}, ${streams === 1 ? 'one stream' : `${streams} streams`}`,
    workload: `${framesOf(streams) * streams} text deltas of ${FRAME_BYTES} bytes in all, ${FRAMES_PER_TICK} a tick and stream, ${version}, read by another process`,
    unit: 'frames for a second of CPU',
    ours: rounds.ours.map(one => one.framesPerCpuSecond),
    limit: {
      what: `a bare server of Node for ${version}, one pre-encoded buffer a tick`,
      values: rounds.bare.map(one => one.framesPerCpuSecond),
    },
    target: { atLeast: 0.6 },
    notes: [
      `by the clock: ours ${perSecond(rounds.ours)} frames/s, limit ${perSecond(rounds.bare)}, ratio ${wallRatio.median.toFixed(2)} (${wallRatio.least.toFixed(2)}–${wallRatio.most.toFixed(2)})`,
      `the reader was busy ${busy(rounds.ours)} of the time with ours, ${busy(rounds.bare)} with the limit`,
    ],
  };
}
