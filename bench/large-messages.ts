import { Peer } from '../test/support/peer.ts';
import { startProvider } from '../test/support/provider.ts';
import { closeConnections } from '../test/support/wire.ts';
import { Workspace } from '../test/support/workspace.ts';
import type { Figure } from './figure.ts';
import { pause, serve, startWorker } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const PROMPT_BYTES = 12 * 1024 * 1024;
const READ_BYTES = 8 * 1024 * 1024;
/** A stream is silent for 4 s before it says that it lives (R16); a gap can only be seen when it was watched for longer. */
const WATCH_MS = 6_000;

const line = 'The quick brown fox jumps over the lazy dog, and nobody asked it why it would do so.\n';
const textOf = (bytes: number) => line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);

/** What a 12 MB prompt and an 8 MB read result of one run do to the other streams of a server. */
export async function measureLargeMessages(repetitions: number): Promise<Figure[]> {
  const gaps: number[] = [];
  const stalls: number[] = [];
  const took: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const provider = await startProvider({
      answers: ({ body }) =>
        body.messages.at(-1)?.role === 'tool'
          ? { text: 'read' }
          : { calls: [{ name: 'Read', args: { path: 'big.txt' } }] },
    });
    const served = await serve(scriptedConfig(provider.baseUrl));
    const watch = startWorker('liveness-watch.ts');
    try {
      await watch.ask({ url: served.url });
      const startedAt = performance.now();
      const peer = await new Peer({
        url: served.url,
        workspace: new Workspace({ 'big.txt': textOf(READ_BYTES) }),
      }).turn(textOf(PROMPT_BYTES));
      const ms = performance.now() - startedAt;
      if (peer.fault || peer.text !== 'read') throw new Error(`the large turn failed: ${peer.describe()}`);
      await pause(Math.max(0, WATCH_MS - ms));
      const { frameGapMs, healthMs } = await watch.ask<{ frameGapMs: number; healthMs: number }>('stop');
      gaps.push(frameGapMs);
      stalls.push(healthMs);
      took.push(ms);
    } finally {
      closeConnections();
      await Promise.all([watch.stop(), served.stop(), provider.close()]);
    }
  }
  const workload = `one run sends a prompt of ${PROMPT_BYTES} bytes and answers a read with ${READ_BYTES} bytes, appended as hex`;
  return [
    {
      name: 'worst heartbeat gap beside a large run',
      workload: `${workload}; the longest silence of an idle stream meanwhile`,
      unit: 'ms',
      ours: gaps,
      limit: { what: 'the longest that is promised (R16)', values: gaps.map(() => 5_000) },
      target: { atMost: 1 },
      notes: [`the turn itself took ${took.map(Math.round).join(', ')} ms`],
    },
    { name: 'worst answer of /healthz beside a large run', workload, unit: 'ms', ours: stalls },
  ];
}
