/**
 * The load of the paced figures in one process: the provider that says deltas and, unless somebody else reads it, the clients that
 * read them from the server. Both ends look at one clock, so the time between is what the server and the sockets added.
 */
import { runLightly } from './light-client.ts';
import { PacedProvider } from './paced-provider.ts';

/** Opens `streams` runs at the server `url`; without one, waits until as many requests came from elsewhere. */
export interface PacedOpening {
  readonly open: { readonly streams: number; readonly url?: string };
}
export interface PacedSpeech {
  readonly speak: { readonly perSecond: number; readonly ms: number };
}
export interface PacedResult {
  readonly deltas: number;
  /** Milliseconds from the write of the provider to the frame at the client, sorted; empty without clients. */
  readonly latencies: readonly number[];
  /** The longest time between two frames of one stream. */
  readonly longestGapMs: number;
  readonly cpuMs: number;
  readonly ms: number;
}

const provider = new PacedProvider();
let runs: Promise<unknown>[] = [];
let sentAt: number[][] = [];
let seen: number[] = [];
let lastAt: number[] = [];
let latencies: number[] = [];
let longestGapMs = 0;

function arrived(stream: number): void {
  const now = performance.now();
  const at = sentAt[stream]![seen[stream]!++];
  if (at === undefined) throw new Error(`stream ${stream} got more deltas than were said`);
  latencies.push(now - at);
  if (lastAt[stream]! > 0) longestGapMs = Math.max(longestGapMs, now - lastAt[stream]!);
  lastAt[stream] = now;
}

async function open({ streams, url }: PacedOpening['open']): Promise<void> {
  sentAt = Array.from({ length: streams }, () => []);
  seen = Array.from({ length: streams }, () => 0);
  lastAt = Array.from({ length: streams }, () => 0);
  latencies = [];
  longestGapMs = 0;
  const all = provider.until(streams);
  runs = url
    ? Array.from({ length: streams }, (_, i) =>
        runLightly({ url, text: `Say something, stream ${i}.`, onDelta: () => arrived(i) }),
      )
    : [];
  await Promise.race([all, Promise.all(runs).then(() => all)]);
}

async function speak({ perSecond, ms }: PacedSpeech['speak']): Promise<PacedResult> {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let deltas = 0;
  const hasClients = runs.length > 0;
  await provider.speak(perSecond, ms, (stream, at) => {
    deltas++;
    if (hasClients) sentAt[stream]!.push(at);
  });
  await Promise.all(runs);
  const { user, system } = process.cpuUsage(cpuBefore);
  if (hasClients && latencies.length !== deltas) throw new Error(`${latencies.length} of ${deltas} deltas came`);
  latencies.sort((a, b) => a - b);
  return {
    deltas,
    latencies,
    longestGapMs,
    cpuMs: (user + system) / 1000,
    ms: performance.now() - startedAt,
  };
}

process.on('message', (asked: PacedOpening | PacedSpeech) => {
  void ('open' in asked ? open(asked.open) : speak(asked.speak)).then(answer => process.send!(answer ?? {}));
});
process.on('SIGTERM', () => process.exit(0));
process.send!({ baseUrl: await provider.listen() });
