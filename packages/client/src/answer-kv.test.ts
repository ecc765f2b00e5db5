import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { KvServerMessageSchema } from '@tandem/protocol/agent';
import { expect, it } from 'vitest';
import { ManualClock } from '../test/clocks.ts';
import { answerKv } from './answer-kv.ts';
import { hashBlob, memoryBlobStore } from './blob-store.ts';
import { limits } from './limits.ts';

const clock = new ManualClock();
const question = (message: MessageInitShape<typeof KvServerMessageSchema>['message'], id = 3) =>
  create(KvServerMessageSchema, { id, message: message! });
const data = new TextEncoder().encode('{"role":"user"}');

it('[§13-kv-set-acknowledged, §13-kv-get] keeps a blob whose id is its hash, and gives it back under the number of the question', async () => {
  const blobs = memoryBlobStore();
  const blobId = await hashBlob(data);
  const set = await answerKv(question({ case: 'setBlobArgs', value: { blobId, blobData: data } }, 0), blobs, clock);
  expect(set).toMatchObject({ id: 0, message: { case: 'setBlobResult' } });
  expect(set.message.case === 'setBlobResult' && set.message.value.error).toBeUndefined();
  const got = await answerKv(question({ case: 'getBlobArgs', value: { blobId } }), blobs, clock);
  expect(got).toMatchObject({ id: 3, message: { case: 'getBlobResult', value: { blobData: data } } });
});

it('[§13-kv-get] answers an unknown blob with an empty result, not with an error', async () => {
  const answer = await answerKv(
    question({ case: 'getBlobArgs', value: { blobId: new Uint8Array(32) } }),
    memoryBlobStore(),
    clock,
  );
  expect(
    answer.message.case === 'getBlobResult' && [answer.message.value.blobData, answer.message.value.error],
  ).toEqual([undefined, undefined]);
});

it('refuses a blob whose id is not its hash, and keeps nothing', async () => {
  const blobs = memoryBlobStore();
  const blobId = new Uint8Array(32).fill(7);
  const answer = await answerKv(question({ case: 'setBlobArgs', value: { blobId, blobData: data } }), blobs, clock);
  expect(answer.message.case === 'setBlobResult' && answer.message.value.error?.message).toMatch(
    /^blob_id is 0707.*SHA-256 of its 15 bytes/,
  );
  expect(await blobs.get(blobId)).toBeUndefined();
});

it('reports a store that fails, is full, or does not answer', async () => {
  const blobId = await hashBlob(data);
  const set = question({ case: 'setBlobArgs', value: { blobId, blobData: data } });
  const full = await answerKv(set, memoryBlobStore(10), clock);
  expect(full.message.case === 'setBlobResult' && full.message.value.error?.message).toMatch(/would pass 10 bytes/);
  const stuck = answerKv(
    question({ case: 'getBlobArgs', value: { blobId } }),
    { get: () => new Promise(() => undefined), set: () => Promise.resolve() },
    clock,
  );
  clock.pass(limits.blobDeadline);
  const late = await stuck;
  expect(late.message.case === 'getBlobResult' && late.message.value.error?.message).toMatch(
    /did not answer within 30000 ms/,
  );
});

it('answers a branch that it does not know with none', async () => {
  expect((await answerKv(question({ case: undefined }, 9), memoryBlobStore(), clock)).message.case).toBeUndefined();
});

it('keeps its own copy of the data', async () => {
  const blobs = memoryBlobStore();
  const shared = data.slice();
  const blobId = await hashBlob(shared);
  await blobs.set(blobId, shared);
  shared.fill(0);
  expect(await blobs.get(blobId)).toEqual(data);
});
