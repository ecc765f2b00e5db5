import { Fault } from '@tandem/protocol';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { BODY_MS } from '../limits.ts';
import { readBody } from './body.ts';
import type { Request } from './listen.ts';

const LIMIT = 1000;

function request(chunks: Uint8Array[], headers: Record<string, string> = {}): Request {
  return Object.assign(Readable.from(chunks), { headers }) as unknown as Request;
}
async function refusal(body: Request): Promise<Fault> {
  try {
    await readBody(body, LIMIT);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('the body was taken');
}

describe('a request body', () => {
  it('is joined from its chunks', async () => {
    expect([...(await readBody(request([Uint8Array.of(1, 2), Uint8Array.of(3)]), LIMIT))]).toEqual([1, 2, 3]);
    expect(await readBody(request([]), LIMIT)).toHaveLength(0);
  });

  it('is decoded from the encodings that it may have (F22)', async () => {
    const plain = Buffer.from('a message '.repeat(20));
    const packed = {
      gzip: gzipSync(plain),
      br: brotliCompressSync(plain),
      deflate: deflateSync(plain),
      identity: plain,
    };
    for (const [encoding, bytes] of Object.entries(packed)) {
      expect(await readBody(request([bytes], { 'content-encoding': encoding }), LIMIT)).toEqual(plain);
    }
  });

  it('is refused when its encoding is unknown or a lie', async () => {
    expect((await refusal(request([Buffer.from('x')], { 'content-encoding': 'zstd' }))).detail).toContain('"zstd"');
    const lie = await refusal(request([Buffer.from('plain')], { 'content-encoding': 'gzip' }));
    expect(lie).toMatchObject({ name_: 'malformed_message' });
  });

  it('[R8-limit-named] over the limit is refused with the limit and what it has', async () => {
    const told = await refusal(request([Buffer.alloc(600), Buffer.alloc(600)]));
    expect(told).toMatchObject({ code: 'resource_exhausted' });
    expect(told.detail).toContain('1200 bytes; the limit is 1000');
    expect(await readBody(request([Buffer.alloc(LIMIT)]), LIMIT)).toHaveLength(LIMIT);
  });

  it('that unpacks to more than the limit is refused before it is unpacked', async () => {
    const bomb = await refusal(request([gzipSync(Buffer.alloc(500_000))], { 'content-encoding': 'gzip' }));
    expect(bomb).toMatchObject({ code: 'resource_exhausted' });
    expect(bomb.detail).toContain('more than 1000 bytes');
  });

  it('that never ends is not read for ever', async () => {
    let sent = 0;
    async function* endless() {
      for (;;) {
        sent += 1000;
        yield Buffer.alloc(1000);
      }
    }
    const body = Object.assign(Readable.from(endless()), { headers: {} }) as unknown as Request;
    expect((await refusal(body)).detail).toContain('at least');
    expect(sent).toBeLessThan(100_000);
  });

  it('that breaks off is refused with what came of it', async () => {
    async function* broken() {
      yield Buffer.alloc(7);
      throw new Error('reset');
    }
    const body = Object.assign(Readable.from(broken()), { headers: {} }) as unknown as Request;
    expect((await refusal(body)).detail).toContain('broke off after 7 bytes');
  });

  it('that drips is refused once its time is over', async () => {
    const clock = new ManualClock();
    const body = Object.assign(new Readable({ read() {} }), { headers: {} });
    body.push(Buffer.alloc(7));
    const taken = readBody(body as unknown as Request, LIMIT, clock);
    clock.advance(BODY_MS - 1);
    body.push(Buffer.alloc(1));
    clock.advance(1);
    await expect(taken).rejects.toMatchObject({ code: 'deadline_exceeded' });
    expect(body.destroyed).toBe(false);
  });
});
