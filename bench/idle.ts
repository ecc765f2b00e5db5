import net from 'node:net';
import type { Figure } from './figure.ts';
import { openRequest } from './open-request.ts';
import { pause, residentBytes, serve, startWorker } from './process.ts';

const STREAMS = 2_000;
/** Streams that are opened and closed before the first look, so that what is loaded and compiled once does not count. */
const WARM_STREAMS = 200;
/** Long enough for the collector to have run over what opening cost. */
const SETTLE_MS = 8_000;

async function openStreams(port: number, count: number): Promise<net.Socket[]> {
  const sockets: net.Socket[] = [];
  // a few at a time: the figure is about open streams, not about a rush
  for (let from = 0; from < count; from += 100) {
    const some = Array.from({ length: Math.min(100, count - from) }, async (_, i) => {
      const socket = net.connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.write(openRequest(`idle-${count}-${from + i}`));
      await new Promise<void>((resolve, reject) => {
        socket.once('data', () => resolve());
        socket.once('error', reject);
      });
      socket.resume();
    });
    await Promise.all(some);
  }
  return sockets;
}

/** KiB of resident memory for one idle stream. */
async function measureOne(port: number, pid: number): Promise<number> {
  for (const socket of await openStreams(port, WARM_STREAMS)) socket.destroy();
  await pause(SETTLE_MS);
  const before = residentBytes(pid);
  const sockets = await openStreams(port, STREAMS);
  await pause(SETTLE_MS);
  const after = residentBytes(pid);
  const lost = sockets.filter(socket => socket.destroyed || socket.readableEnded).length;
  if (lost > 0) throw new Error(`${lost} of ${STREAMS} idle streams did not stay open`);
  for (const socket of sockets) socket.destroy();
  return (after - before) / STREAMS / 1024;
}

/** Memory of open RunSSE streams that wait, against a bare server that holds as many open responses. */
export async function measureIdle(repetitions: number): Promise<Figure> {
  const ours: number[] = [];
  const limit: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const served = await serve({ providers: { demo: { type: 'demo' } }, limits: { placeholderSeconds: 600 } });
    try {
      ours.push(await measureOne(Number(new URL(served.url).port), served.pid));
    } finally {
      await served.stop();
    }
    const bare = startWorker('idle-bare.ts');
    try {
      const { port } = await bare.answer<{ port: number }>();
      limit.push(await measureOne(port, bare.pid));
    } finally {
      await bare.stop();
    }
  }
  return {
    name: 'memory of an idle stream',
    workload: `resident memory at ${STREAMS} open RunSSE streams less that at 0, for one stream; heartbeats go out, HTTP/1.1, each server in a process of its own`,
    unit: 'KiB',
    ours,
    limit: { what: 'bare node:http with as many open responses', values: limit },
    target: { atMost: 1.4 },
  };
}
