import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecRecord, RunRecord, Scope, Store } from '../../src/store/port.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';

/** An adapter in the hands of the contract: a place for one store, empty at first, that can be opened again and again. */
export interface StorePlace {
  open(options: { clock: ManualClock; blobBytes?: number; recordDays?: number }): Store;
  /** Removes what the place holds. */
  remove(): void;
}

const DAY = 86_400_000;
const anna: Scope = { owner: 'anna' };
const bert: Scope = { owner: 'bert' };
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const idOf = (data: Uint8Array): Uint8Array => hash('sha256', data, 'buffer');
const blobOf = (text: string) => ({ id: idOf(bytes(text)), data: bytes(text) });
const textOf = (data: Uint8Array | undefined) => data && Buffer.from(data).toString('utf8');

const record = (changes: Partial<ExecRecord> = {}): ExecRecord => ({
  conversationId: 'conversation',
  callId: 'call-1',
  step: 0,
  requestId: 'request-1',
  argsHash: idOf(bytes('args')),
  seqno: 4,
  bytes: bytes('result'),
  ...changes,
});

const run = (changes: Partial<RunRecord> = {}): RunRecord => ({
  runId: 'run',
  requestId: 'request',
  conversationId: 'conversation',
  model: 'scripted/test-model',
  startedAt: 1_000,
  endedAt: 2_000,
  outcome: 'ended',
  usage: { inputTokens: 10, cacheReadTokens: undefined },
  ...changes,
});

/** What every store keeps to, run on each adapter: caches may forget, the ledger may not, and nobody sees what another owns. */
export function describeStore(adapter: string, makePlace: () => StorePlace): void {
  describe(`the store contract on ${adapter}`, () => {
    let clock: ManualClock;
    let place: StorePlace;
    let store: Store;
    beforeEach(() => {
      clock = new ManualClock();
      place = makePlace();
      store = place.open({ clock });
    });
    afterEach(async () => {
      await store.close();
      place.remove();
    });
    async function reopen(options: { blobBytes?: number; recordDays?: number } = {}): Promise<void> {
      await store.close();
      store = place.open({ clock, ...options });
    }

    describe('blobs', () => {
      it('come back as they were put, also after the store was opened again', async () => {
        const { id, data } = blobOf('hello');
        const nothing = blobOf('');
        await store.blobs.put(anna, [{ id, data }, nothing]);
        expect(textOf(await store.blobs.get(anna, id))).toBe('hello');
        await reopen();
        expect(textOf(await store.blobs.get(anna, id))).toBe('hello');
        expect(await store.blobs.get(anna, nothing.id)).toHaveLength(0);
        expect(await store.blobs.get(anna, idOf(bytes('never put')))).toBeUndefined();
      });

      it('are taken many at once and again and again', async () => {
        const blobs = Array.from({ length: 300 }, (_, at) => blobOf(`blob ${at}`));
        await store.blobs.put(anna, blobs);
        await store.blobs.put(anna, blobs.slice(100));
        await store.blobs.put(anna, []);
        for (const { id, data } of blobs) expect(textOf(await store.blobs.get(anna, id))).toBe(textOf(data));
      });

      // K14
      it('of one owner are unknown to another, who has its own under the same id', async () => {
        const { id, data } = blobOf('private');
        await store.blobs.put(anna, [{ id, data }]);
        expect(await store.blobs.get(bert, id)).toBeUndefined();
        await store.blobs.put(bert, [{ id, data }]);
        expect(textOf(await store.blobs.get(bert, id))).toBe('private');
        expect(textOf(await store.blobs.get(anna, id))).toBe('private');
      });

      it('that were put under a key can be read with that key alone', async () => {
        const sealed: Scope = { owner: 'anna', sealKey: new Uint8Array(32).fill(7) };
        const wrong: Scope = { owner: 'anna', sealKey: new Uint8Array(32).fill(8) };
        const { id, data } = blobOf('under lock');
        await store.blobs.put(sealed, [{ id, data }]);
        await reopen();
        expect(textOf(await store.blobs.get(sealed, id))).toBe('under lock');
        expect(await store.blobs.get(wrong, id)).toBeUndefined();
        expect(await store.blobs.get(anna, id)).toBeUndefined();
      });

      // F106
      it('stay within their bytes: the longest unused go, the used ones stay', async () => {
        await reopen({ blobBytes: 10_000 });
        const blobs = Array.from({ length: 10 }, (_, at) => blobOf(`${at}`.repeat(900)));
        for (const blob of blobs) {
          await store.blobs.put(anna, [blob]);
          clock.advance(600_000);
        }
        await store.blobs.get(anna, blobs[0]!.id); // used again, so it is not the oldest any more
        clock.advance(600_000);
        await store.blobs.put(
          anna,
          Array.from({ length: 6 }, (_, at) => blobOf(`new ${at}`.repeat(180))),
        );
        await reopen({ blobBytes: 10_000 });
        const kept = await Promise.all(blobs.map(async ({ id }) => (await store.blobs.get(anna, id)) !== undefined));
        expect(kept[0]).toBe(true);
        expect(kept[1]).toBe(false);
        expect(kept.filter(Boolean).length * 900).toBeLessThanOrEqual(10_000);
      });
    });

    describe('the ledger of execs', () => {
      it('gives the records of one call back by step and number, whatever the order they came in, also after a restart', async () => {
        await store.ledger.recordExec(anna, record({ step: 1, seqno: 9, bytes: bytes('third') }));
        await store.ledger.recordExec(anna, record({ seqno: 6, bytes: bytes('second') }));
        await store.ledger.recordExec(anna, record({ seqno: 5, bytes: bytes('first') }));
        await store.ledger.recordExec(anna, record({ callId: 'call-2' }));
        await store.ledger.recordExec(anna, record({ conversationId: 'another' }));
        await reopen();
        const found = await store.ledger.execRecords(anna, 'conversation', 'call-1');
        expect(found.map(one => [one.step, one.seqno, textOf(one.bytes)])).toEqual([
          [0, 5, 'first'],
          [0, 6, 'second'],
          [1, 9, 'third'],
        ]);
        expect(found[0]).toMatchObject({ conversationId: 'conversation', callId: 'call-1', requestId: 'request-1' });
        expect(Buffer.from(found[0]!.argsHash)).toEqual(Buffer.from(idOf(bytes('args'))));
      });

      it('has what it took when the process is gone without closing it (R48)', async () => {
        await store.ledger.recordExec(anna, record());
        const other = place.open({ clock }); // nothing was closed or flushed on purpose
        expect(await other.ledger.execRecords(anna, 'conversation', 'call-1')).toHaveLength(1);
        await other.close();
      });

      it('tells two attempts apart that asked the same', async () => {
        await store.ledger.recordExec(anna, record({ requestId: 'request-1', seqno: 7 }));
        await store.ledger.recordExec(anna, record({ requestId: 'request-2', seqno: 3 }));
        const found = await store.ledger.execRecords(anna, 'conversation', 'call-1');
        expect(found.map(({ requestId }) => requestId).sort()).toEqual(['request-1', 'request-2']);
      });

      it('shows nobody the records of another owner, nor those under another key', async () => {
        const sealed: Scope = { owner: 'anna', sealKey: new Uint8Array(32).fill(7) };
        await store.ledger.recordExec(sealed, record());
        expect(await store.ledger.execRecords(bert, 'conversation', 'call-1')).toEqual([]);
        expect(await store.ledger.execRecords(anna, 'conversation', 'call-1')).toEqual([]);
        expect(await store.ledger.execRecords(sealed, 'conversation', 'call-1')).toHaveLength(1);
      });

      it('forgets records after their days, and none before', async () => {
        await reopen({ recordDays: 2 });
        await store.ledger.recordExec(anna, record());
        clock.advance(1.9 * DAY);
        expect(await store.ledger.execRecords(anna, 'conversation', 'call-1')).toHaveLength(1);
        clock.advance(0.2 * DAY);
        expect(await store.ledger.execRecords(anna, 'conversation', 'call-1')).toEqual([]);
      });
    });

    describe('the ledger of runs', () => {
      it('gives the runs of a conversation back, the newest first', async () => {
        await store.ledger.recordRun(anna, run({ runId: 'old', endedAt: clock.now() }));
        await store.ledger.recordRun(anna, run({ runId: 'new', endedAt: clock.now() + 5, outcome: 'canceled' }));
        await store.ledger.recordRun(
          anna,
          run({ runId: 'elsewhere', conversationId: 'another', endedAt: clock.now() }),
        );
        await store.ledger.recordRun(bert, run({ runId: 'of bert', endedAt: clock.now() }));
        await reopen();
        const runs = await store.ledger.runs(anna, 'conversation');
        expect(runs.map(({ runId, outcome }) => [runId, outcome])).toEqual([
          ['new', 'canceled'],
          ['old', 'ended'],
        ]);
        // what a provider did not report stays absent (R58)
        expect(runs[1]).toEqual({ ...run({ runId: 'old', endedAt: clock.now() }), usage: { inputTokens: 10 } });
      });
    });

    describe('the conversations', () => {
      const always = { onlySetNameIfEmpty: false };

      it('keeps a name and folders, and what a change leaves out stays', async () => {
        expect(await store.conversations.metadata(anna, 'c')).toBeUndefined();
        await store.conversations.updateMetadata(anna, 'c', { ...always, name: 'One', workspacePaths: ['/a'] });
        await store.conversations.updateMetadata(anna, 'c', always);
        await reopen();
        expect(await store.conversations.metadata(anna, 'c')).toEqual({ name: 'One', workspacePaths: ['/a'] });
        await store.conversations.updateMetadata(anna, 'c', { ...always, workspacePaths: ['/b', '/c'] });
        await store.conversations.updateMetadata(anna, 'c', { ...always, name: 'Two' });
        expect(await store.conversations.metadata(anna, 'c')).toEqual({ name: 'Two', workspacePaths: ['/b', '/c'] });
      });

      it('leaves a name alone that only an empty one was to give way to', async () => {
        await store.conversations.updateMetadata(anna, 'c', { name: 'First', onlySetNameIfEmpty: true });
        await store.conversations.updateMetadata(anna, 'c', {
          name: 'Second',
          onlySetNameIfEmpty: true,
          workspacePaths: ['/a'],
        });
        expect(await store.conversations.metadata(anna, 'c')).toEqual({ name: 'First', workspacePaths: ['/a'] });
      });

      it('shows nobody the metadata of another owner, nor that under another key', async () => {
        const sealed: Scope = { owner: 'anna', sealKey: new Uint8Array(32).fill(7) };
        await store.conversations.updateMetadata(sealed, 'c', { ...always, name: 'Private' });
        expect(await store.conversations.metadata(anna, 'c')).toBeUndefined();
        expect(await store.conversations.metadata(bert, 'c')).toBeUndefined();
        expect(await store.conversations.metadata(sealed, 'c')).toMatchObject({ name: 'Private' });
      });

      it('gives a copy the metadata and every exec record of its source, once however often it is told', async () => {
        await store.conversations.updateMetadata(anna, 'source', { ...always, name: 'Source' });
        for (const seqno of [4, 5, 6]) await store.ledger.recordExec(anna, record({ conversationId: 'source', seqno }));
        await store.ledger.recordExec(anna, record({ conversationId: 'source', callId: 'call-2' }));
        await store.ledger.recordExec(bert, record({ conversationId: 'source', callId: 'call-3' }));
        await store.conversations.clone(anna, 'source', 'copy');
        await store.conversations.clone(anna, 'source', 'copy');
        const copied = await store.ledger.execRecords(anna, 'copy', 'call-1');
        expect(copied.map(({ seqno, requestId, bytes: data }) => [seqno, requestId, textOf(data)])).toEqual(
          [4, 5, 6].map(seqno => [seqno, 'request-1', 'result']),
        );
        expect(copied.every(({ argsHash }) => Buffer.compare(argsHash, record().argsHash) === 0)).toBe(true);
        expect(await store.ledger.execRecords(anna, 'copy', 'call-2')).toHaveLength(1);
        expect(await store.ledger.execRecords(anna, 'copy', 'call-3')).toEqual([]);
        expect(await store.ledger.execRecords(anna, 'source', 'call-1')).toHaveLength(3);
        expect(await store.conversations.metadata(anna, 'copy')).toEqual({ name: 'Source', workspacePaths: [] });
      });

      it('leaves what a copy has of its own, and copies nothing from a source that nobody knows', async () => {
        await store.conversations.updateMetadata(anna, 'source', { ...always, name: 'Source' });
        await store.ledger.recordExec(anna, record({ conversationId: 'source', seqno: 4 }));
        await store.conversations.updateMetadata(anna, 'copy', { ...always, name: 'Copy' });
        await store.ledger.recordExec(anna, record({ conversationId: 'copy', seqno: 9 }));
        await store.conversations.clone(anna, 'source', 'copy');
        await store.conversations.clone(anna, 'unknown', 'copy');
        await store.conversations.clone(bert, 'source', 'copy');
        expect((await store.ledger.execRecords(anna, 'copy', 'call-1')).map(({ seqno }) => seqno)).toEqual([9]);
        expect(await store.conversations.metadata(anna, 'copy')).toMatchObject({ name: 'Copy' });
        expect(await store.conversations.metadata(bert, 'copy')).toBeUndefined();
      });

      it('keeps what is sealed sealed in the copy', async () => {
        const sealed: Scope = { owner: 'anna', sealKey: new Uint8Array(32).fill(7) };
        await store.ledger.recordExec(sealed, record({ conversationId: 'source' }));
        await store.conversations.clone(anna, 'source', 'copy');
        expect(await store.ledger.execRecords(anna, 'copy', 'call-1')).toEqual([]);
        expect((await store.ledger.execRecords(sealed, 'copy', 'call-1')).map(one => textOf(one.bytes))).toEqual([
          'result',
        ]);
      });

      it('forgets metadata that was not told for 90 days, and none before', async () => {
        await store.conversations.updateMetadata(anna, 'c', { ...always, name: 'Old' });
        clock.advance(89.9 * DAY);
        expect(await store.conversations.metadata(anna, 'c')).toBeDefined();
        clock.advance(0.2 * DAY);
        expect(await store.conversations.metadata(anna, 'c')).toBeUndefined();
      });
    });

    it('makes its secret once: 32 bytes that stay, and that no other store has', async () => {
      const { secret } = store;
      expect(secret).toHaveLength(32);
      await reopen();
      expect(Buffer.from(store.secret)).toEqual(Buffer.from(secret));
      const elsewhere = makePlace();
      const other = elsewhere.open({ clock });
      expect(Buffer.from(other.secret)).not.toEqual(Buffer.from(secret));
      await other.close();
      elsewhere.remove();
    });

    it('leaves no timer behind when it is closed', async () => {
      const before = clock.pending;
      const elsewhere = makePlace();
      const other = elsewhere.open({ clock });
      await other.close();
      elsewhere.remove();
      expect(clock.pending).toBe(before);
    });
  });
}
