import { encodeAppend, encodeEnvelope } from '@tandem/protocol';
import http2 from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { APPEND, RUN_SSE, fetchWhole, unaryHeaders } from '../support/wire.ts';
import { END_HEADERS, FRAME, PREFACE, headerBlock, http2Frame, readFrames } from './http2-frames.ts';
import { countOf, rawRequest, startSiege } from './siege.ts';
import type { Siege } from './siege.ts';

/** What H2 tells its clients that it takes at one time. */
const MOST_STREAMS = 1_000;
const HEARTBEAT = Uint8Array.of(0x3a, 0x00);
const STREAM_TYPE = 'application/connect+proto';
const settings = http2Frame(FRAME.settings, 0, 0);
const headersOf = (stream: number) => http2Frame(FRAME.headers, END_HEADERS, stream, headerBlock(RUN_SSE, STREAM_TYPE));

let siege: Siege;
beforeAll(async () => {
  siege = await startSiege();
});
afterAll(() => siege.close());
afterEach(() => siege.expectWell());

describe('headers', () => {
  it('too large are answered with 431 over HTTP/1.1', async () => {
    const raw = await siege.connect();
    raw.socket.write(`POST ${APPEND} HTTP/1.1\r\nhost: 127.0.0.1\r\nlarge: ${'x'.repeat(100_000)}\r\n\r\n`);
    await raw.closed;
    expect(raw.text()).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('without end are answered with 431 over HTTP/1.1, long before all of them came', async () => {
    const raw = await siege.connect();
    raw.socket.write(`POST ${APPEND} HTTP/1.1\r\nhost: 127.0.0.1\r\n`);
    const many = Buffer.from('x: y\r\n'.repeat(10_000));
    for (let batch = 0; batch < 100 && !raw.socket.destroyed; batch++) {
      await new Promise<void>(resolve => raw.socket.write(many, () => resolve()));
    }
    await raw.closed;
    expect(raw.text()).toMatch(/^HTTP\/1\.1 431 |^$/); // what the other side had to say may be lost to its reset
  });

  it('by the hundred thousand cost an HTTP/2 client its stream or its connection', async () => {
    const session = http2.connect(siege.url, { maxHeaderListPairs: 2 ** 20 });
    session.on('error', () => session.destroy());
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`x-${at}`, 'y']));
    const ends = Array.from({ length: 20 }, () => {
      const stream = session.request({ ':method': 'POST', ':path': APPEND, ...many });
      return new Promise<string>(resolve => {
        stream.on('response', ({ ':status': status }) => resolve(String(status)));
        stream.on('error', error => resolve(error.message));
        stream.on('close', () => resolve('closed'));
      });
    });
    for (const end of await Promise.all(ends)) expect(end).not.toBe('200');
    session.destroy();
  });

  it('in CONTINUATION frames without end cost an HTTP/2 client its connection', async () => {
    const raw = await siege.connect();
    raw.socket.write(
      Buffer.concat([PREFACE, settings, http2Frame(FRAME.headers, 0, 1, headerBlock(RUN_SSE, STREAM_TYPE))]),
    );
    const more = http2Frame(
      FRAME.continuation,
      0,
      1,
      Buffer.concat([Buffer.of(0x00, 1), Buffer.from('x'), Buffer.of(1), Buffer.from('y')]),
    );
    const many = Buffer.concat(Array.from({ length: 5_000 }, () => more));
    for (let batch = 0; batch < 50 && !raw.socket.destroyed; batch++) {
      await new Promise<void>(resolve => raw.socket.write(many, () => resolve()));
    }
    await raw.closed;
  });
});

describe('ten thousand streams on one HTTP/2 connection', () => {
  it('are opened no further than the server said it takes', async () => {
    const raw = await siege.connect();
    raw.socket.write(Buffer.concat([PREFACE, settings]));
    for (let batch = 0; batch < 100; batch++) {
      const frames = Array.from({ length: 100 }, (_, at) => headersOf(2 * (batch * 100 + at) + 1));
      await new Promise<void>(resolve => raw.socket.write(Buffer.concat(frames), () => resolve()));
    }
    raw.socket.write(http2Frame(FRAME.ping, 0, 0, Buffer.from('question')));
    const isOver = () =>
      raw.socket.destroyed || readFrames(raw.text()).some(({ type }) => type === FRAME.ping || type === FRAME.goAway);
    await eventually(isOver, 'answer to the flood');
    const frames = readFrames(raw.text());
    const answered = new Set(frames.filter(({ type }) => type === FRAME.headers).map(({ stream }) => stream));
    expect(answered.size).toBeGreaterThan(0);
    expect(answered.size).toBeLessThanOrEqual(MOST_STREAMS);
    await siege.expectWell();
  });

  it('that are reset as soon as they are opened cost the connection and nothing else', async () => {
    const raw = await siege.connect();
    raw.socket.write(Buffer.concat([PREFACE, settings]));
    const reset = Buffer.of(0, 0, 0, 8); // CANCEL
    for (let batch = 0; batch < 100 && !raw.socket.destroyed; batch++) {
      const frames = Array.from({ length: 100 }, (_, at) => {
        const stream = 2 * (batch * 100 + at) + 1;
        return Buffer.concat([headersOf(stream), http2Frame(FRAME.reset, 0, stream, reset)]);
      });
      await new Promise<void>(resolve => raw.socket.write(Buffer.concat(frames), () => resolve()));
    }
    await raw.closed;
  });

  it('of PING and SETTINGS frames are nothing to wait for', async () => {
    const raw = await siege.connect();
    raw.socket.write(Buffer.concat([PREFACE, settings]));
    const many = Buffer.concat(
      Array.from({ length: 10_000 }, () => Buffer.concat([settings, http2Frame(FRAME.ping, 0, 0, Buffer.alloc(8))])),
    );
    raw.socket.write(many);
    await siege.expectWell();
  });
});

describe('one connection of HTTP/1.1', () => {
  it('may send a thousand requests at once, and gets their answers in order', async () => {
    const raw = await siege.connect();
    const requests = Array.from({ length: 1_000 }, (_, at) =>
      at % 2
        ? Buffer.from('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
        : rawRequest(
            APPEND,
            'application/proto',
            encodeAppend({ requestId: `pipelined ${at}`, seqno: 0, bytes: HEARTBEAT }),
          ),
    );
    raw.socket.write(Buffer.concat(requests));
    await eventually(() => countOf(raw.text(), 'HTTP/1.1 200 ') === 1_000, 'thousand answers');
    const types = [...raw.text().matchAll(/content-type: application\/(\w+)/gi)].map(([, type]) => type);
    expect(types).toEqual(Array.from({ length: 1_000 }, (_, at) => (at % 2 ? 'json' : 'proto')));
  });

  it('that asks and asks and never reads fills no memory', async () => {
    const raw = await siege.connect();
    raw.socket.pause();
    const many = Buffer.from(
      'GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer test-token\r\n\r\n'.repeat(2_000),
    );
    for (let batch = 0; batch < 50 && raw.socket.write(many); batch++);
    await siege.expectWell();
  });

  it.each([
    ['a length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked'],
    ['two lengths', 'content-length: 5\r\ncontent-length: 6'],
    ['a negative length', 'content-length: -1'],
    ['a length beyond numbers', 'content-length: 99999999999999999999999'],
    ['a chunk of no number', 'transfer-encoding: chunked'],
  ])('with %s is refused, and nothing is taken for a second request', async (_, lines) => {
    const raw = await siege.connect();
    raw.socket.write(
      `POST ${APPEND} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines}\r\n\r\nGET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
    );
    await raw.closed;
    expect(raw.text()).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(raw.text()).not.toContain('{"status":"ok"}');
  });
});

describe('appends to nobody', () => {
  it('by the ten thousand leave no memory behind', async () => {
    const sockets = await Promise.all(Array.from({ length: 4 }, () => siege.connect()));
    for (const [index, { socket }] of sockets.entries()) {
      const requests = Array.from({ length: 2_500 }, (_, at) =>
        rawRequest(
          APPEND,
          'application/proto',
          encodeAppend({ requestId: `nobody ${index} ${at}`, seqno: at % 7, bytes: HEARTBEAT }),
        ),
      );
      socket.write(Buffer.concat(requests));
    }
    await eventually(
      () => sockets.every(({ text }) => countOf(text(), 'HTTP/1.1 200 ') === 2_500),
      'ten thousand acknowledgements',
    );
  });

  it('with gigantic numbers are acknowledged, and one below zero is refused', async () => {
    const statusOf = async (seqno: bigint, requestId = `giant ${seqno}`) =>
      (
        await fetchWhole({
          url: siege.url,
          path: APPEND,
          headers: unaryHeaders(),
          body: encodeAppend({ requestId, seqno, bytes: HEARTBEAT }),
        })
      ).status;
    for (const seqno of [2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      expect(await statusOf(seqno)).toBe(200);
      expect(await statusOf(0n, `giant ${seqno}`)).toBe(200);
    }
    expect(await statusOf(-1n)).toBe(400);
    expect(await statusOf(-(2n ** 63n))).toBe(400);
  });

  it('of a megabyte each are held for no longer than their streams wait', async () => {
    const bytes = Buffer.concat([Buffer.of(0x7a, 0xf8, 0xff, 0x3f), Buffer.alloc(1_048_568, 'x')]);
    const volley = async (name: string) => {
      const sent = Array.from({ length: 10 }, (_, at) => {
        const body = encodeAppend({ requestId: `large ${name} ${at}`, seqno: 1, bytes, form: 'binary' });
        return fetchWhole({ url: siege.url, path: APPEND, headers: unaryHeaders(), body });
      });
      for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    };
    for (let batch = 0; batch < 20; batch++) await volley(`early ${batch}`);
    const early = siege.residentBytes();
    for (let batch = 0; batch < 40; batch++) await volley(`late ${batch}`);
    // four hundred megabytes later: what the streams that wait may hold, and no more
    expect(siege.residentBytes() - early).toBeLessThan(150 * 1024 * 1024);
  });
});

it('an envelope that announces four gigabytes is refused at once', async () => {
  const raw = await siege.connect();
  const body = Buffer.of(0, 0xff, 0xff, 0xff, 0xff);
  raw.socket.write(rawRequest(RUN_SSE, STREAM_TYPE, Buffer.concat([body, encodeEnvelope(HEARTBEAT)])));
  await eventually(() => raw.text().includes('4294967295'), 'refusal');
});
