/**
 * The server side of the downlink figure: the real listener, RunSSE handler, stream, downlink and frame writer. In place of a run,
 * a loop makes text deltas as a run does while its model streams: one append, one frame for each, and a wait when the
 * reader does not keep up. The only thing left out is the model.
 */
import { systemClock } from '../packages/server/src/clock.ts';
import { listen } from '../packages/server/src/http/listen.ts';
import type { RouteContext } from '../packages/server/src/http/routes.ts';
import { runSse } from '../packages/server/src/http/run-sse.ts';
import { silentLog } from '../packages/server/src/observe/log.ts';
import { Stream } from '../packages/server/src/stream/stream.ts';
import { DELTA, FRAMES_PER_TICK, framesOf } from './downlink-load.ts';

const tick = () => new Promise<void>(resolve => setImmediate(resolve));

async function speak(stream: Stream, frames: number): Promise<void> {
  for (let sent = 0; sent < frames;) {
    for (let i = 0; i < FRAMES_PER_TICK; i++, sent++) {
      stream.appendText('textDelta', DELTA);
      const wait = stream.ready();
      if (wait) await wait;
    }
    await tick();
  }
  stream.end(undefined);
}

let frames = 0;
let cpuBefore = process.cpuUsage();
let waiting: (() => void)[] = [];
const openForReader = (owner: string, requestId: string): Stream => {
  const stream = new Stream({
    requestId,
    owner,
    clock: systemClock,
    log: silentLog,
    limits: { messageBytes: 1024 * 1024, placeholderMs: 600_000, readerGraceMs: 600_000 },
    startRun() {
      throw new Error('no run is asked for');
    },
    onEnd() {},
  });
  // all streams of a round start together, once the last reader is there
  waiting.push(() => void speak(stream, frames));
  return stream;
};

// what the handler of RunSSE uses of all that routes have
const context = {
  authenticator: { authenticate: () => ({ owner: 'bench' }) },
  registry: { openForReader },
  clock: systemClock,
} as unknown as RouteContext;
const listener = await listen({
  host: '127.0.0.1',
  port: 0,
  handler: (request, response) => void runSse(request, response, context),
  onError: error => {
    throw error;
  },
});

process.on('message', async ({ streams }: { streams: number }) => {
  if (streams > 0) {
    frames = framesOf(streams);
    const ready = waiting;
    waiting = [];
    cpuBefore = process.cpuUsage();
    for (const start of ready) start();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  process.send!({ cpuMs: (user + system) / 1000, waiting: waiting.length });
});
process.on('SIGTERM', () => process.exit(0));
process.send!({ port: listener.port });
