import { encodeEnvelope } from '@tandem/protocol';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { APPEND, RUN, RUN_SSE, fetchWhole, streamHeaders, transports, unaryHeaders } from '../support/wire.ts';
import type { Transport } from '../support/wire.ts';
import { startSiege } from './siege.ts';
import type { Siege } from './siege.ts';

const MIB = 1024 * 1024;
/** Sixty million bytes of nothing, in some thousands: few enough for every way in to start opening them. */
const plain = Buffer.alloc(60 * MIB);
const gzipped = gzipSync(plain, { level: 9 });
const brotlied = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
/** A bomb inside a bomb: what decompresses to another one must not be opened twice. */
const nested = gzipSync(gzipped, { level: 9 });

let siege: Siege;
beforeAll(async () => {
  siege = await startSiege();
});
afterAll(() => siege.close());
afterEach(() => siege.expectWell());

const cases = transports.flatMap(transport =>
  (['gzip', 'br'] as const).map(codec => ({ transport, codec, bomb: codec === 'gzip' ? gzipped : brotlied })),
);

describe.each(cases)('a $codec bomb over $transport', ({ transport, codec, bomb }) => {
  it('as an append is refused with the limit, thirty at a time', async () => {
    const headers = unaryHeaders({ 'content-encoding': codec });
    const answers = await thirty(() => fetchWhole({ url: siege.url, path: APPEND, transport, headers, body: bomb }));
    for (const { status, body } of answers) {
      expect(status).toBe(429);
      expect(JSON.parse(body.toString())).toMatchObject({ code: 'resource_exhausted' });
      expect(body.toString()).toMatch(/limit is \d+/);
    }
  });

  it('as the envelope of RunSSE ends its stream', async () => {
    const answers = await thirty(() => stream(RUN_SSE, transport, codec, encodeEnvelope(bomb, 1)));
    for (const { body } of answers) expect(endOf(body)).toMatch(/resource_exhausted/);
  });

  it('as a message on Run ends its stream', async () => {
    const answers = await thirty(() => stream(RUN, transport, codec, encodeEnvelope(bomb, 1)));
    for (const { body } of answers) expect(endOf(body)).toMatch(/resource_exhausted/);
  });
});

it('the hundredth bomb finds no more memory taken than the tenth', async () => {
  const headers = unaryHeaders({ 'content-encoding': 'gzip' });
  const volley = async () => {
    await Promise.all(
      Array.from({ length: 10 }, () => fetchWhole({ url: siege.url, path: APPEND, headers, body: gzipped })),
    );
    await stream(RUN_SSE, 'h1', 'gzip', encodeEnvelope(gzipped, 1));
    return siege.residentBytes();
  };
  const early = await volley();
  let late = early;
  for (let more = 0; more < 9; more++) late = await volley();
  // two bombs' worth of what each may decompress to, and what ten requests leave to the collector
  expect(late - early).toBeLessThan(48 * MIB);
});

it('a bomb inside a bomb is no message, and is opened once', async () => {
  const headers = unaryHeaders({ 'content-encoding': 'gzip' });
  const { status, body } = await fetchWhole({ url: siege.url, path: APPEND, headers, body: nested });
  expect(status).toBe(400);
  expect(JSON.parse(body.toString()).code).toBe('invalid_argument');
});

it.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip'])(
  'a body that only claims to be %s is refused',
  async encoding => {
    const headers = unaryHeaders({ 'content-encoding': encoding });
    const { status } = await fetchWhole({
      url: siege.url,
      path: APPEND,
      headers,
      body: Buffer.from('this is nothing of the kind'),
    });
    expect(status).toBe(400);
  },
);

const thirty = <T>(call: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 30 }, call));

const stream = (path: string, transport: Transport, codec: string, body: Uint8Array) =>
  fetchWhole({ url: siege.url, path, transport, headers: streamHeaders({ 'connect-content-encoding': codec }), body });

/** The text of the end frame that closes a body; there is exactly one. */
function endOf(body: Buffer): string {
  const at = body.lastIndexOf(Buffer.of(2, 0, 0));
  expect(body.indexOf(Buffer.of(2, 0, 0))).toBe(at);
  return body.toString('utf8', at + 5);
}
