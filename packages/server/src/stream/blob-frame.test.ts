import { create, toBinary } from '@bufbuild/protobuf';
import { encodeEnvelope } from '@tandem/protocol';
import { AgentServerMessageSchema, KvServerMessageSchema } from '@tandem/protocol/agent';
import type { KvServerMessage } from '@tandem/protocol/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serverMessage } from '../bridge/outbox.ts';
import { blobFrame } from './blob-frame.ts';
import { messageFrame } from './frame.ts';

const setBlob = (id: number, blobId: Uint8Array, blobData: Uint8Array): KvServerMessage =>
  create(KvServerMessageSchema, { id, message: { case: 'setBlobArgs', value: { blobId, blobData } } });
const rootOf = (kv: KvServerMessage) => serverMessage({ case: 'kvServerMessage', value: kv });
const generated = (kv: KvServerMessage) => encodeEnvelope(toBinary(AgentServerMessageSchema, rootOf(kv)));

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom(0, 60, 127, 128, 16_383, 16_384, 70_000, 2_100_000).map(length => new Uint8Array(length).fill(7)),
);

describe('a blob written by hand', () => {
  it('has the bytes of the generated code', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), fc.uint8Array({ maxLength: 40 }), bytes, (id, blobId, blobData) => {
        const kv = setBlob(id, blobId, blobData);
        expect(Buffer.compare(blobFrame(kv)!, generated(kv))).toBe(0);
        expect(Buffer.compare(messageFrame(rootOf(kv)), generated(kv))).toBe(0);
      }),
    );
  });

  it('is left to the generated code when it says more', () => {
    const asked = create(KvServerMessageSchema, { id: 1, message: { case: 'getBlobArgs', value: {} } });
    const traced = setBlob(1, new Uint8Array(32), Uint8Array.of(1));
    traced.spanContext = create(KvServerMessageSchema, { spanContext: {} }).spanContext!;
    for (const kv of [asked, traced]) {
      expect(blobFrame(kv)).toBeUndefined();
      expect(Buffer.compare(messageFrame(rootOf(kv)), generated(kv))).toBe(0);
    }
  });
});
