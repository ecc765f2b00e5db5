import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { encodeAppend, encodeEnvelope, encodeEndStream, fault } from '@tandem/protocol';
import { AgentClientMessageSchema, AgentServerMessageSchema } from '@tandem/protocol/agent';
import { BidiRequestIdSchema } from '@tandem/protocol/aiserver';
import { describe, expect, it } from 'vitest';
import { makeSurroundings } from '../../test/surroundings.ts';
import type { InspectFlags } from './inspect.ts';
import { inspect } from './inspect.ts';

const heartbeat = Uint8Array.of(0x00, 0, 0, 0, 4, 0x0a, 0x02, 0x6a, 0x00);
const end = Uint8Array.of(0x02, 0, 0, 0, 2, 0x7b, 0x7d);
const heartbeatLine =
  '{"kind":"interaction_update","messageType":"agent.v1.AgentServerMessage","flags":"0x00","length":4,"compressed":false,"endStream":false,"message":{"interaction_update":{"heartbeat":{}}}}';
const endLine = '{"kind":"end_stream","flags":"0x02","length":2,"compressed":false,"endStream":true,"message":{}}';

const text = toBinary(
  AgentServerMessageSchema,
  create(AgentServerMessageSchema, {
    message: { case: 'interactionUpdate', value: { message: { case: 'textDelta', value: { text: 'x'.repeat(100) } } } },
  }),
);
const blob = (bytes: number) =>
  toBinary(
    AgentServerMessageSchema,
    create(AgentServerMessageSchema, {
      message: {
        case: 'kvServerMessage',
        value: { id: 1, message: { case: 'getBlobArgs', value: { blobId: new Uint8Array(bytes) } } },
      },
    }),
  );

async function call(body: Uint8Array, flags: InspectFlags = {}) {
  const surroundings = makeSurroundings();
  writeFileSync(join(surroundings.cwd, 'capture.bin'), body);
  const exitCode = await inspect('capture.bin', flags, surroundings);
  return { exitCode, lines: surroundings.stdout.lines, err: surroundings.stderr.text };
}

describe('inspect', () => {
  it('[product-inspect-shape] prints a frame and the end frame in the shape of the reference', async () => {
    expect(await call(Buffer.concat([heartbeat, end]), { as: 'sse' })).toEqual({
      exitCode: 0,
      lines: [heartbeatLine, endLine],
      err: '',
    });
  });

  it('[product-inspect-shape, done-inspect-capture] unpacks compressed frames and end frames, and keeps the length of the wire', async () => {
    const failure = encodeEndStream(fault('bad_request', 'no'));
    for (const [encoding, pack] of [
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
    ] as const) {
      const [packed, packedEnd] = [pack(text), pack(failure)];
      const body = Buffer.concat([encodeEnvelope(packed, 1), encodeEnvelope(packedEnd, 3)]);
      for (const flags of [{}, { encoding }]) {
        const { exitCode, lines } = await call(body, flags);
        expect(exitCode).toBe(0);
        expect(lines.map(line => JSON.parse(line) as unknown)).toEqual([
          {
            kind: 'interaction_update',
            messageType: 'agent.v1.AgentServerMessage',
            flags: '0x01',
            length: packed.length,
            compressed: true,
            endStream: false,
            message: { interaction_update: { text_delta: { text: 'x'.repeat(100) } } },
          },
          {
            kind: 'end_stream',
            flags: '0x03',
            length: packedEnd.length,
            compressed: true,
            endStream: true,
            message: JSON.parse(new TextDecoder().decode(failure)) as unknown,
          },
        ]);
      }
    }
  });

  it('[product-inspect-shape] adds the two ids of an append, whichever field holds its message', async () => {
    const bytes = toBinary(
      AgentClientMessageSchema,
      create(AgentClientMessageSchema, { message: { case: 'clientHeartbeat', value: {} } }),
    );
    for (const form of ['hex', 'binary', 'both'] as const) {
      const { exitCode, lines } = await call(encodeAppend({ requestId: 'r-1', seqno: 7, bytes, form }), {
        as: 'append',
      });
      expect(exitCode).toBe(0);
      expect(lines.map(line => JSON.parse(line) as unknown)).toEqual([
        {
          kind: 'client_heartbeat',
          messageType: 'agent.v1.AgentClientMessage',
          flags: '0x00',
          length: bytes.length,
          compressed: false,
          endStream: false,
          request_id: 'r-1',
          append_seqno: 7,
          message: { client_heartbeat: {} },
        },
      ]);
    }
  });

  it('[product-inspect-detects] tells the three kinds apart and says what it took', async () => {
    const request = encodeEnvelope(
      toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId: '0f9b1c1e-7a52-4b0e-9a30-4f2f3c5d6e7f' })),
    );
    const append = encodeAppend({ requestId: 'r', seqno: 0, bytes: Uint8Array.of(0x3a, 0x00) });
    expect((await call(Buffer.concat([heartbeat, end]))).err).toBe(
      'tandem: Taking capture.bin for an answer of RunSSE (--as sse).\n',
    );
    expect((await call(append)).err).toBe('tandem: Taking capture.bin for a BidiAppend (--as append).\n');
    const taken = await call(request);
    expect(taken.err).toBe('tandem: Taking capture.bin for a request of RunSSE (--as request).\n');
    expect(JSON.parse(taken.lines[0]!)).toMatchObject({
      kind: 'bidi_request_id',
      messageType: 'aiserver.v1.BidiRequestId',
      message: { request_id: '0f9b1c1e-7a52-4b0e-9a30-4f2f3c5d6e7f' },
    });
    expect((await call(heartbeat)).err).toContain('for an answer of RunSSE');
  });

  it('[product-inspect-redacts] cuts bytes at 64 characters unless --full', async () => {
    const body = Buffer.concat([encodeEnvelope(blob(60)), end]);
    expect((await call(body)).lines[0]).toContain(`"blob_id":"${'A'.repeat(64)}… (60 bytes)"`);
    expect((await call(body, { full: true })).lines[0]).toContain(`"blob_id":"${'A'.repeat(80)}"`);
  });

  it('[product-inspect-redacts] shows no credential', async () => {
    const message = create(AgentClientMessageSchema, {
      message: {
        case: 'runRequest',
        value: {
          modelDetails: { modelId: 'm', credentials: { case: 'apiKeyCredentials', value: { apiKey: 'sk-secret' } } },
        },
      },
    });
    const { lines } = await call(
      encodeAppend({ requestId: 'r', seqno: 0, bytes: toBinary(AgentClientMessageSchema, message) }),
      { full: true },
    );
    expect(lines[0]).toContain('"api_key":"[redacted]"');
    expect(lines[0]).not.toContain('sk-secret');
  });

  it('reads stdin, and unpacks a body that is packed as a whole', async () => {
    const surroundings = makeSurroundings({ isTerminal: true });
    surroundings.stdin.end(gzipSync(Buffer.concat([heartbeat, end])));
    expect(await inspect('-', {}, surroundings)).toBe(0);
    expect(surroundings.stdout.lines).toEqual([heartbeatLine, endLine]);
    expect(surroundings.stderr.text).toMatch(/packed with gzip[^]*Taking stdin/);
  });

  it('shows what stands before a broken frame, then says what is wrong and where', async () => {
    const cut = await call(Buffer.concat([heartbeat, end.subarray(0, 6)]));
    expect(cut).toMatchObject({
      exitCode: 1,
      lines: [heartbeatLine],
      err: expect.stringContaining('capture.bin, frame 2, at byte 9: The body ends inside an envelope: 1 of 2 bytes'),
    });
    const wrongFlags = await call(Buffer.concat([heartbeat, Uint8Array.of(0x40, 0, 0, 0, 0)]));
    expect(wrongFlags).toMatchObject({
      exitCode: 1,
      lines: [heartbeatLine],
      err: expect.stringContaining('flags 0x40'),
    });
  });

  it('shows what stands behind a frame that cannot be decoded', async () => {
    const broken = await call(
      Buffer.concat([
        encodeEnvelope(Uint8Array.of(0x0a, 0x05)),
        encodeEnvelope(Uint8Array.of(1, 2, 3), 1),
        heartbeat,
        end,
      ]),
    );
    expect(broken).toMatchObject({ exitCode: 1, lines: [heartbeatLine, endLine] });
    expect(broken.err).toMatch(/frame 1, at byte 0: It cannot be decoded[^]*frame 2, at byte 7: .*not gzip and not br/);
  });

  it('says so when the stream has no end, or does not end there', async () => {
    expect(await call(heartbeat)).toMatchObject({ exitCode: 0, err: expect.stringContaining('There is no end frame') });
    expect(await call(Buffer.concat([end, heartbeat]), { as: 'sse' })).toMatchObject({
      exitCode: 1,
      lines: [endLine],
      err: expect.stringContaining('nothing may follow'),
    });
  });

  it.each([
    ['nothing', Uint8Array.of(), /is empty/],
    ['text', new TextEncoder().encode('GET / HTTP/1.1'), /neither an answer of RunSSE nor/],
    ['what only begins as gzip does', Uint8Array.of(0x1f, 0x8b, 0, 0), /begins as gzip does/],
    ['an append without an id', Uint8Array.of(0x0a, 0x00), /request_id is empty/],
  ])('ends with exit code 1 and a reason on %s', async (_, body, reason) => {
    expect(await call(body)).toMatchObject({ exitCode: 1, lines: [], err: expect.stringMatching(reason) });
  });

  it('names a file that is not there', async () => {
    const surroundings = makeSurroundings();
    expect(await inspect('none.bin', {}, surroundings)).toBe(1);
    expect(surroundings.stderr.text).toBe('tandem: none.bin cannot be read: there is no such file.\n');
  });
});
