import { Peer } from '../test/support/peer.ts';
import { startProvider } from '../test/support/provider.ts';
import { closeConnections } from '../test/support/wire.ts';
import { Workspace } from '../test/support/workspace.ts';
import type { Figure } from './figure.ts';
import type { PacedResult } from './paced-load.ts';
import { pause, serve, startWorker } from './process.ts';
import { scriptedConfig } from './scripted-config.ts';

const PROMPT_BYTES = 12 * 1024 * 1024;
const READ_BYTES = 8 * 1024 * 1024;
const STREAMS = 5;
const PER_SECOND = 50;
/** For how long the other streams speak: well beyond the large turn. */
const MS = 6_000;
/** No frame of another stream may be later than this. */
const LATEST_MS = 200;

const line = 'The quick brown fox jumps over the lazy dog, and nobody asked it why it would do so.\n';
const textOf = (bytes: number) => line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);

/** What a 12 MB prompt and an 8 MB read result of one run do to the other streams of a server. */
export async function measureLargeMessages(repetitions: number): Promise<Figure> {
  const latest: number[] = [];
  const undisturbed: number[] = [];
  const took: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const load = startWorker('paced-load.ts');
    const { baseUrl } = await load.answer<{ baseUrl: string }>();
    const provider = await startProvider({
      answers: ({ body }) =>
        body.messages.at(-1)?.role === 'tool'
          ? { text: 'read' }
          : { calls: [{ name: 'Read', args: { path: 'big.txt' } }] },
    });
    const config = scriptedConfig(baseUrl);
    const large = scriptedConfig(provider.baseUrl, 'large');
    const served = await serve({ ...config, providers: { ...config.providers, ...large.providers } });
    const speak = async (work: () => Promise<unknown>) => {
      await load.ask({ open: { streams: STREAMS, url: served.url } });
      const spoken = load.ask<PacedResult>({ speak: { perSecond: PER_SECOND, ms: MS } });
      await pause(500);
      await work();
      return (await spoken).latencies.at(-1)!;
    };
    try {
      undisturbed.push(await speak(() => pause(0)));
      latest.push(
        await speak(async () => {
          const startedAt = performance.now();
          const workspace = new Workspace({ 'big.txt': textOf(READ_BYTES) });
          const peer = new Peer({ url: served.url, model: 'large/test-model', workspace });
          await peer.turn(textOf(PROMPT_BYTES));
          if (peer.fault || peer.text !== 'read') throw new Error(`the large turn failed: ${peer.describe()}`);
          took.push(performance.now() - startedAt);
        }),
      );
      if (took.at(-1)! > MS - 1_000) throw new Error('the large turn outlived the streams beside it');
    } finally {
      closeConnections();
      await Promise.all([load.stop(), served.stop(), provider.close()]);
    }
  }
  return {
    name: 'latest frame beside a large run',
    workload: `${STREAMS} runs get ${PER_SECOND} deltas a second each while one sends a prompt of ${PROMPT_BYTES} bytes and answers a read with ${READ_BYTES} bytes, as hex; the longest time from the write of the provider to the frame`,
    unit: 'ms',
    ours: latest,
    limit: { what: 'the same streams without the large run', values: undisturbed },
    target: { mostOurs: LATEST_MS },
    notes: [`the large turn itself took ${took.map(Math.round).join(', ')} ms`],
  };
}
