import { encodeEnvelope } from '@tandem/protocol';
import { describe, expect, it } from 'vitest';
import { watchStream } from '../support/heartbeat-watch.ts';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import { prepareServerProcess } from '../support/server-process.ts';
import { RUN_SSE, closeConnections, streamHeaders, transports } from '../support/wire.ts';

/** The promise is 5 s; what is above it is for a machine that is busy with other things. */
const LONGEST_SILENCE_MS = 7_000;
/** Megabytes through five encodings on a machine that does other things besides; a guard against hanging only. */
const HANG_MS = 240_000;
/** Long enough for three heartbeats. */
const WATCH_MS = 13_000;

describe.each(transports)('heavy traffic over %s', transport => {
  it(
    '[R16-heartbeat-under-load] passes a 12 MB prompt and an 8 MB read result while another stream keeps its heartbeats',
    async () => {
      const provider = await startProvider({
        answers: ({ body }) =>
          body.messages.at(-1)?.role === 'tool'
            ? { text: 'read' }
            : { calls: [{ name: 'Read', args: { path: 'a.txt' } }] },
      });
      const server = await prepareServerProcess(provider.baseUrl, { limits: { placeholderSeconds: 600 } });
      await server.start();
      // BidiRequestId { request_id: "idle" }
      const body = encodeEnvelope(Uint8Array.of(0x0a, 4, 0x69, 0x64, 0x6c, 0x65));
      const watch = await watchStream({ url: server.url, path: RUN_SSE, transport, headers: streamHeaders(), body });
      const started = Date.now();
      const prompt = 'p'.repeat(12_000_000);
      for (let round = 0; round === 0 || Date.now() - started < WATCH_MS; round++) {
        const heavy = new Peer({ url: server.url, transport });
        heavy.workspace.files.set('a.txt', `${'line of a large file '.repeat(40)}\n`.repeat(10_000));
        expect(heavy.workspace.files.get('a.txt')!.length).toBeGreaterThan(8_000_000);
        await heavy.open();
        await heavy.run(prompt);
        // takes as long as the machine lets it: the guard of this test is the only one
        await heavy.calls[0]!.closed;
        expect([heavy.fault, heavy.text, heavy.faults]).toEqual([undefined, 'read', []]);
      }
      const times = await watch.stop();
      const gaps = times.slice(1).map((time, at) => time - times[at]!);
      expect(times.length).toBeGreaterThan(3);
      expect(Math.max(...gaps)).toBeLessThan(LONGEST_SILENCE_MS);
      expect(provider.requests.every(({ text }) => text.length > 12_000_000)).toBe(true);
      closeConnections();
      await server.close();
      await provider.close();
    },
    HANG_MS,
  );
});
