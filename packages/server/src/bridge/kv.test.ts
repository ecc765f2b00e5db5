import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { fault } from '@tandem/protocol';
import { KvClientMessageSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { RecordedOutbox, StandingClock, recordedLog } from '../../test/recorded-outbox.ts';
import { KvBridge, blobIdOf } from './kv.ts';

const bridge = () => {
  const outbox = new RecordedOutbox();
  const clock = new StandingClock();
  const { log, lines } = recordedLog();
  const kv = new KvBridge({ outbox, clock, log });
  const answer = (id: number, message: MessageInitShape<typeof KvClientMessageSchema>['message']) =>
    kv.deliver(create(KvClientMessageSchema, { id, message }));
  return { outbox, clock, lines, kv, answer };
};
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const [one, two] = [bytes('one'), bytes('two')];

describe('a blob id', () => {
  it('is the 32 bytes of the SHA-256 of the data (R39)', () => {
    expect(Buffer.from(blobIdOf(bytes('abc'))).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});

describe('a blob asked of the client', () => {
  it('comes back to the question of its number, whatever the order (§20)', async () => {
    const { outbox, kv, answer } = bridge();
    const asked = [kv.get(blobIdOf(one)), kv.get(blobIdOf(two))];
    expect(outbox.of('kvServerMessage').map(({ id, message }) => [id, message.case])).toEqual([
      [1, 'getBlobArgs'],
      [2, 'getBlobArgs'],
    ]);
    answer(2, { case: 'getBlobResult', value: { blobData: two } });
    answer(1, { case: 'getBlobResult', value: { blobData: one } });
    expect(await Promise.all(asked)).toEqual([one, two]);
  });

  it.each<[string, MessageInitShape<typeof KvClientMessageSchema>['message']]>([
    ['an empty result', { case: 'getBlobResult', value: {} }],
    ['other data than its id says', { case: 'getBlobResult', value: { blobData: two } }],
    ['an error', { case: 'getBlobResult', value: { blobData: one, error: { message: 'disk' } } }],
    ['an answer of the wrong kind', { case: 'setBlobResult', value: {} }],
    ['an answer without a branch', { case: undefined }],
  ])('is missing after %s (R41)', async (_what, message) => {
    const { kv, answer } = bridge();
    const asked = kv.get(blobIdOf(one));
    answer(1, message);
    expect(await asked).toBeUndefined();
  });

  it('is the empty blob when that was asked for', async () => {
    const { kv, answer } = bridge();
    const asked = kv.get(blobIdOf(bytes('')));
    answer(1, { case: 'getBlobResult', value: {} });
    expect(await asked).toEqual(bytes(''));
  });

  it('is missing after its deadline, which a heartbeat of the client moves (R18)', async () => {
    const { clock, kv, answer } = bridge();
    const asked = kv.get(blobIdOf(one));
    let settled = false;
    void asked.then(() => (settled = true));
    clock.advance(59_000);
    kv.renew();
    clock.advance(59_000);
    await Promise.resolve();
    expect(settled).toBe(false);
    clock.advance(1_000);
    expect(await asked).toBeUndefined();
    answer(1, { case: 'getBlobResult', value: { blobData: one } });
  });
});

describe('a blob given to the client', () => {
  it('carries id and data, and is settled by its acknowledgement', async () => {
    const { outbox, kv, answer } = bridge();
    const given = kv.set(blobIdOf(one), one);
    expect(outbox.of('kvServerMessage')[0]).toMatchObject({
      id: 1,
      message: { case: 'setBlobArgs', value: { blobId: blobIdOf(one), blobData: one } },
    });
    answer(1, { case: 'setBlobResult', value: {} });
    await expect(given).resolves.toBeUndefined();
  });

  it.each<[string, MessageInitShape<typeof KvClientMessageSchema>['message'], RegExp]>([
    ['an error', { case: 'setBlobResult', value: { error: { message: 'disk full' } } }, /disk full/],
    ['an answer of the wrong kind', { case: 'getBlobResult', value: {} }, /getBlobResult/],
    ['an answer without a branch', { case: undefined }, /nothing/],
  ])('fails the run after %s (R42)', async (_what, message, says) => {
    const { kv, answer } = bridge();
    const given = kv.set(blobIdOf(one), one);
    answer(1, message);
    await expect(given).rejects.toMatchObject({
      name_: 'blob_rejected',
      detail: expect.stringMatching(says) as string,
    });
  });

  it('fails the run after its deadline', async () => {
    const { clock, kv } = bridge();
    const given = kv.set(blobIdOf(one), one);
    clock.advance(60_000);
    await expect(given).rejects.toMatchObject({
      name_: 'blob_rejected',
      detail: expect.stringMatching(/60 s/) as string,
    });
  });
});

describe('the end of a run', () => {
  it('ends what is open and refuses what is asked later, without another frame', async () => {
    const { outbox, clock, kv } = bridge();
    const asked = kv.get(blobIdOf(one));
    const given = kv.set(blobIdOf(two), two);
    const over = fault('canceled', 'over');
    kv.close(over);
    await expect(asked).rejects.toBe(over);
    await expect(given).rejects.toBe(over);
    await expect(kv.get(blobIdOf(one))).rejects.toBe(over);
    expect([outbox.messages.length, clock.pending]).toEqual([2, 0]);
  });

  it('leaves an answer to nobody without effect but a line in the log', () => {
    const { lines, answer } = bridge();
    answer(0, { case: 'getBlobResult', value: { blobData: one } });
    answer(99, { case: 'setBlobResult', value: {} });
    expect(lines.map(([level]) => level)).toEqual(['warn', 'warn']);
  });
});
