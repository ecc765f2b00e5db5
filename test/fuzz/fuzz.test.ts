import { EnvelopeReader, decodeAppend, decodeEndStream, encodeAppend, encodeEnvelope } from '@tandem/protocol';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stream } from '../../packages/server/src/stream/stream.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import {
  APPEND,
  RUN,
  RUN_SSE,
  closeConnections,
  fetchWhole,
  streamHeaders,
  transports,
  unaryHeaders,
} from '../support/wire.ts';
import { fuzz, replay } from './campaign.ts';
import { readCrashes, saveCrash } from './crash-file.ts';
import { dice } from './dice.ts';
import { mutate, mutateBytes } from './mutate.ts';
import { recordSeeds } from './seeds.ts';
import type { Seeds } from './seeds.ts';
import { readTree, writeTree } from './wire-tree.ts';

/** The share of a whole `npm run fuzz` that every test run takes part in. */
const SLICE_MS = 10_000;

let seeds: Seeds;
let all: Uint8Array[];
beforeAll(async () => {
  seeds = await recordSeeds();
  all = [...seeds.starts, ...seeds.others];
});

describe('the fuzzer', () => {
  it('starts from messages that are whole', () => {
    expect(seeds.starts.length).toBeGreaterThanOrEqual(3);
    const cases = all.map(
      bytes => decodeAppend(encodeAppend({ requestId: 'r', seqno: 0, bytes }), { maxBytes: 1e6 }).message.message.case,
    );
    expect(new Set(cases)).toEqual(
      new Set([
        'runRequest',
        'execClientMessage',
        'execClientControlMessage',
        'kvClientMessage',
        'conversationAction',
        'clientHeartbeat',
        'interactionResponse',
        'prewarmRequest',
      ]),
    );
    for (const bytes of all) expect(Buffer.from(writeTree(readTree(bytes)!)).equals(bytes)).toBe(true);
  });

  it('makes the same inputs of the same seed, and others of another', () => {
    const made = (seed: number) => {
      const chance = dice(seed);
      return Array.from({ length: 200 }, () =>
        Buffer.from(mutate(chance.pick(all), all, chance)).toString('hex'),
      ).join();
    };
    expect(made(1)).toBe(made(1));
    expect(made(1)).not.toBe(made(2));
  });

  it('finds a stream without its end frame, and keeps what led to it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-fuzz-'));
    const { end } = Stream.prototype;
    // the planted fault: a stream that ends without a last frame when it was canceled
    Stream.prototype.end = function (this: Stream, reason) {
      if (reason?.code === 'canceled') return;
      end.call(this, reason);
    };
    try {
      const { crashes } = await fuzz({ seeds, seed: 3, inputs: 2_000 });
      expect(crashes.map(({ what }) => what).join('\n')).toMatch(/0 end frames|left behind/);
      const crash = crashes[0]!;
      expect(await replay(crash)).toBeDefined();
      const name = saveCrash(crash, folder);
      expect(readCrashes(folder)).toMatchObject([
        { name, kind: crash.kind, inputs: crash.inputs.map(input => Buffer.from(input)) },
      ]);
    } finally {
      Stream.prototype.end = end;
      rmSync(folder, { recursive: true });
    }
  });

  it('finds an error that is no Fault', async () => {
    const { accept } = Stream.prototype;
    Stream.prototype.accept = function (this: Stream, seqno, message, ...rest) {
      if (message.message.case === 'interactionResponse') throw new TypeError('planted');
      return accept.call(this, seqno, message, ...rest);
    };
    try {
      const { crashes } = await fuzz({ seeds, seed: 4, inputs: 2_000 });
      expect(crashes.map(({ what }) => what).join('\n')).toContain('TypeError: planted');
    } finally {
      Stream.prototype.accept = accept;
    }
  });
});

it('breaks nothing any more with what once did', async () => {
  for (const { name, kind, inputs } of readCrashes()) expect(await replay({ kind, inputs }), name).toBeUndefined();
});

it('finds nothing in ten seconds', async () => {
  const startedAt = performance.now();
  const until = () => performance.now() - startedAt > SLICE_MS;
  const { inputs, crashes } = await fuzz({ seeds, seed: 1, inputs: Infinity, until });
  expect(
    crashes.map(({ kind, what, inputs: bodies }) => ({
      kind,
      what,
      inputs: bodies.map(body => Buffer.from(body).toString('hex')),
    })),
  ).toEqual([]);
  expect(inputs).toBeGreaterThan(1_000);
});

describe.each(transports)('over %s', transport => {
  it('every input has its answer, and nothing is left of it', async () => {
    const provider = await startProvider({ answers: () => ({ text: 'done' }) });
    const clock = new ManualClock();
    const server = await startTestServer({
      provider: provider.baseUrl,
      clock,
      config: { limits: { messageBytes: 64 * 1024 } },
    });
    afterAll(async () => {
      closeConnections();
      await server.close();
      await provider.close();
    });
    const atRest = clock.pending;
    const { url } = server;
    const chance = dice(7);
    for (let round = 0; round < 30; round++) {
      const asked = Array.from({ length: 10 }, async (_, at) => {
        const bytes = mutate(chance.pick(all), all, chance);
        if (at % 5 < 3) {
          const body = encodeAppend({ requestId: `r ${chance.roll(20)}`, seqno: chance.roll(4), bytes });
          const { status } = await fetchWhole({
            url,
            path: APPEND,
            transport,
            headers: unaryHeaders(),
            body: chance.once(3) ? mutateBytes(body, chance) : body,
          });
          expect([200, 400, 429]).toContain(status);
          return;
        }
        const isRun = at % 5 === 3;
        // what could be a request of RunSSE would wait for its run: one byte too few is always an answer at once
        const envelope = encodeEnvelope(isRun ? bytes : chance.pick(all));
        const body = isRun ? envelope.subarray(0, -1) : mutateBytes(envelope.subarray(0, 4), chance).subarray(0, 4);
        const answer = await fetchWhole({
          url,
          path: isRun ? RUN : RUN_SSE,
          transport,
          headers: streamHeaders(),
          body,
        });
        expect(answer.status).toBe(200);
        const frames = [...new EnvelopeReader({ maxBytes: 1e6 }).push(answer.body)];
        expect(frames.filter(({ endStream }) => endStream)).toHaveLength(1);
        expect(decodeEndStream(frames.at(-1)!.payload).fault?.code).toMatch(
          /^(?:invalid_argument|resource_exhausted|canceled)$/,
        );
      });
      await Promise.all(asked);
    }
    expect((await new Peer({ url, transport }).turn('hello')).text).toBe('done');
    await clock.pass(400_000, 5_000);
    expect(server.load).toEqual({ streams: 0, runs: 0 });
    expect(clock.pending).toBe(atRest);
    expect(server.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
