import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { AgentServerMessageSchema } from '@tandem/protocol/agent';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { makeConnection } from './connection.ts';
import { openDownlink } from './downlink.ts';
import { AttemptFailure } from './failure.ts';
import { fetchTransport } from './transport-fetch.ts';
import type { Transport, TransportRequest } from './transport.ts';

const text = (value: string) =>
  toBinary(
    AgentServerMessageSchema,
    create(AgentServerMessageSchema, {
      message: { case: 'interactionUpdate', value: { message: { case: 'textDelta', value: { text: value } } } },
    }),
  );
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Reads a whole stream whose body comes in these chunks. */
async function readAll(chunks: Uint8Array[], headers: Record<string, string> = {}, status = 200) {
  const seen: TransportRequest[] = [];
  const transport: Transport = {
    duplex: false,
    codecs: fetchTransport().codecs,
    exchange(request) {
      seen.push(request);
      const all: Record<string, string> = { 'content-type': 'application/connect+proto', ...headers };
      return Promise.resolve({
        status,
        header: name => all[name],
        body: (async function* () {
          yield* chunks;
        })(),
      });
    },
  };
  const connection = makeConnection({ transport, baseUrl: 'http://server' });
  let frames = 0;
  const out: string[] = [];
  const downlink = await openDownlink(connection, {
    requestId: 'r1',
    headers: { 'x-request-id': 'r1' },
    signal: new AbortController().signal,
    onFrame: () => frames++,
  });
  for await (const frame of downlink) {
    if ('end' in frame) out.push(frame.end === undefined ? 'end' : `end ${frame.end.error.code}`);
    else if (
      frame.message.message.case === 'interactionUpdate' &&
      frame.message.message.value.message.case === 'textDelta'
    ) {
      out.push(frame.message.message.value.message.value.text);
    } else out.push('other');
  }
  return { out, frames, request: seen[0]! };
}
const end = encodeEnvelope(json({}), 2);

it('asks with one envelope that holds the request id, and names the codecs it knows', async () => {
  const { request } = await readAll([end]);
  expect(request.url).toBe('http://server/agent.v1.AgentService/RunSSE');
  expect(request.body).toEqual(Uint8Array.of(0, 0, 0, 0, 4, 0x0a, 2, 0x72, 0x31));
  expect(request.headers['connect-accept-encoding']).toMatch(/^gzip(,br)?$/);
});

it('reads frames cut at every byte', async () => {
  const whole = Buffer.concat([encodeEnvelope(text('漢🙂')), encodeEnvelope(text('b')), end]);
  const { out, frames } = await readAll([...whole].map(byte => Uint8Array.of(byte)));
  expect(out).toEqual(['漢🙂', 'b', 'end']);
  expect(frames).toBe(3);
});

it('expands what is compressed, the end frame too, and leaves plain frames alone', async () => {
  const chunks = [
    encodeEnvelope(text('plain')),
    encodeEnvelope(gzipSync(text('packed')), 1),
    encodeEnvelope(gzipSync(json({})), 3),
  ];
  expect((await readAll(chunks, { 'connect-content-encoding': 'gzip' })).out).toEqual(['plain', 'packed', 'end']);
});

it.skipIf(!fetchTransport().codecs.has('br'))('expands brotli where the platform can', async () => {
  const chunks = [encodeEnvelope(brotliCompressSync(text('packed')), 1), end];
  expect((await readAll(chunks, { 'connect-content-encoding': 'br' })).out).toEqual(['packed', 'end']);
});

it('skips branches and fields of a newer schema', async () => {
  const unknown = Uint8Array.of(0xa2, 0x1f, 1, 0x78); // field 500, one byte long
  const { out } = await readAll([
    encodeEnvelope(unknown),
    encodeEnvelope(new Uint8Array()),
    encodeEnvelope(text('known')),
    end,
  ]);
  expect(out).toEqual(['other', 'other', 'known', 'end']);
});

it('gives the error of the end frame', async () => {
  expect((await readAll([encodeEnvelope(json({ error: { code: 'internal', message: 'm' } }), 2)])).out).toEqual([
    'end internal',
  ]);
});

it.each<[string, Uint8Array[], Record<string, string>, RegExp]>([
  ['a stream without an end frame', [encodeEnvelope(text('a'))], {}, /without an end frame/],
  ['a stream cut inside a frame', [encodeEnvelope(text('a')).subarray(0, 4)], {}, /middle of a frame/],
  ['a frame that is no message', [encodeEnvelope(Uint8Array.of(0xff))], {}, /no AgentServerMessage/],
  ['a compressed frame that nobody asked for', [encodeEnvelope(gzipSync(text('a')), 1)], {}, /compressed/],
  [
    'a frame that is not what it says',
    [encodeEnvelope(text('a'), 1)],
    { 'connect-content-encoding': 'gzip' },
    /not valid gzip/,
  ],
  ['an absurd length', [Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff)], {}, /./],
  ['a page', [], { 'content-type': 'text/html' }, /text\/html/],
])('fails on %s', async (_what, chunks, headers, words) => {
  const failure = await readAll(chunks, headers).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(Error);
  expect((failure as Error).message).toMatch(words);
});

it('T04: looks at the status before the body', async () => {
  const failure = await readAll(
    [json({ code: 'unauthenticated', message: 'bad token' })],
    { 'content-type': 'application/json' },
    401,
  ).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AttemptFailure);
  expect((failure as AttemptFailure).error).toMatchObject({ code: 'unauthenticated', retryable: false });
});
