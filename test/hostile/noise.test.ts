import { encodeAppend, encodeEnvelope } from '@tandem/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { dice } from '../fuzz/dice.ts';
import { mutate } from '../fuzz/mutate.ts';
import { recordSeeds } from '../fuzz/seeds.ts';
import {
  APPEND,
  RUN,
  RUN_POLL,
  RUN_SSE,
  fetchWhole,
  streamHeaders,
  transports,
  unaryHeaders,
} from '../support/wire.ts';
import { startSiege } from './siege.ts';
import type { Siege } from './siege.ts';

let siege: Siege;
let messages: readonly Uint8Array[];
beforeAll(async () => {
  const seeds = await recordSeeds();
  messages = [...seeds.starts, ...seeds.others];
  siege = await startSiege();
});
afterAll(() => siege.close());
afterEach(() => siege.expectWell());

describe.each(transports)('protobuf of chance over %s', transport => {
  const chance = dice(11);
  const made = () => mutate(chance.pick(messages), messages, chance);

  it('in appends is acknowledged or refused in words', async () => {
    for (let batch = 0; batch < 50; batch++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => {
          const body = encodeAppend({
            requestId: `noise ${chance.roll(9)}`,
            seqno: chance.roll(9),
            bytes: made(),
            form: chance.pick(['hex', 'binary', 'both']),
          });
          return fetchWhole({ url: siege.url, path: APPEND, transport, headers: unaryHeaders(), body });
        }),
      );
      for (const { status, body } of answers) {
        expect([200, 400, 429]).toContain(status);
        if (status !== 200)
          expect(JSON.parse(body.toString()).code).toMatch(/^(?:invalid_argument|resource_exhausted)$/);
      }
    }
  });

  it.each([RUN_SSE, RUN, RUN_POLL])('in envelopes that break off ends %s with one frame', async path => {
    for (let batch = 0; batch < 10; batch++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          fetchWhole({
            url: siege.url,
            path,
            transport,
            headers: streamHeaders(),
            body: encodeEnvelope(Buffer.concat([made(), Buffer.of(0)])).subarray(0, -1),
          }),
        ),
      );
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        expect(body.toString('latin1')).toMatch(/\x02\x00\x00[^]{2}\{"error":\{"code":"[a-z_]+"/);
        expect(body.at(-1)).toBe('}'.charCodeAt(0));
      }
    }
  });
});
