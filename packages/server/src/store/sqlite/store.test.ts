import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../../test/support/manual-clock.ts';
import { describeStore } from '../../../test/store/contract.ts';
import { migrations } from './schema.ts';
import { openSqliteStore } from './store.ts';

describeStore('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-store-'));
  return {
    open: options => openSqliteStore({ file: join(folder, 'tandem.db'), ...options }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
});

describe('the SQLite store', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tandem-sqlite-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const clock = new ManualClock();

  it('makes the folder it is told to use, for its owner alone', async () => {
    const file = join(folder, 'deep', 'down', 'tandem.db');
    const store = openSqliteStore({ file, clock });
    await store.close();
    expect(statSync(join(folder, 'deep', 'down')).mode & 0o077).toBe(0);
  });

  it('[product-store-private] makes its files for their owner alone, also where others may look into the folder', async () => {
    chmodSync(folder, 0o755);
    const before = process.umask(0o022);
    const store = openSqliteStore({ file: join(folder, 'tandem.db'), clock });
    process.umask(before);
    await store.blobs.put({ owner: 'anna' }, [{ id: new Uint8Array(32), data: new Uint8Array(10) }]);
    const modes = readdirSync(folder).map(name => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
    await store.close();
    expect(Object.fromEntries(modes)).toEqual({ 'tandem.db': '600', 'tandem.db-wal': '600', 'tandem.db-shm': '600' });
  });

  it('[R58-usage-in-ledger] adds up counts beyond what a number holds exactly, and leaves out what no call reported', async () => {
    const store = openSqliteStore({ file: join(folder, 'tandem.db'), clock });
    const call = { conversationId: 'c', runId: 'r', model: 'm', at: 1, isOwnKey: false, cost: undefined };
    for (const inputTokens of [9e15, 9e15, 7])
      await store.usage.record({ owner: 'anna' }, { ...call, usage: { inputTokens } });
    const [row] = await store.usage.report({ owner: 'anna' }, { by: 'turn' });
    expect(row).toEqual({
      name: 'r',
      calls: 3,
      turns: 1,
      inputTokens: 18e15 + 7,
      cost: {},
      unpricedCalls: 3,
      lastAt: 1,
    });
    await store.close();
  });

  it('F106: keeps no more bytes of blobs than it is told, however many come, and says what it let go', async () => {
    const limit = 100_000;
    const swept: { freedBytes: number; keptBytes: number }[] = [];
    const own = new ManualClock();
    const file = join(folder, 'tandem.db');
    const store = openSqliteStore({ file, clock: own, blobBytes: limit, onSwept: one => swept.push(one) });
    const blobOf = (at: number) => ({ id: new Uint8Array(32).fill(at), data: new Uint8Array(5_000).fill(at) });
    const scope = { owner: 'anna' };
    for (let at = 1; at <= 200; at++) {
      own.advance(600_000); // a use is noted at most every ten minutes
      await store.blobs.put(scope, [blobOf(at)]);
      await store.blobs.get(scope, blobOf(1).id); // in use all the time
    }
    const bytesIn = () => {
      const database = new DatabaseSync(file);
      const { bytes } = database.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM blobs').get() as {
        bytes: number;
      };
      database.close();
      return bytes;
    };
    expect(bytesIn()).toBeGreaterThan(limit / 2);
    expect(bytesIn()).toBeLessThanOrEqual(2 * limit); // one bound's worth may come between two sweeps
    expect(await store.blobs.get(scope, blobOf(1).id)).toBeDefined();
    expect(await store.blobs.get(scope, blobOf(2).id)).toBeUndefined();
    expect(await store.blobs.get(scope, blobOf(200).id)).toBeDefined();
    expect(swept.length).toBeGreaterThan(5);
    for (const { freedBytes, keptBytes } of swept) {
      expect(freedBytes).toBeGreaterThan(0);
      expect(keptBytes).toBeLessThanOrEqual(limit);
    }
    await store.close();
    // what was left above the bound goes with the next start
    await openSqliteStore({ file, clock: own, blobBytes: limit }).close();
    expect(bytesIn()).toBeLessThanOrEqual(limit);
  });

  it('works in memory alone', async () => {
    const store = openSqliteStore({ file: ':memory:', clock });
    const id = new Uint8Array(32).fill(1);
    await store.blobs.put({ owner: 'anna' }, [{ id, data: Uint8Array.of(1, 2, 3) }]);
    expect(Buffer.from((await store.blobs.get({ owner: 'anna' }, id))!)).toEqual(Buffer.of(1, 2, 3));
    await store.close();
  });

  it('writes nothing that was sealed in the clear, in none of its files', async () => {
    const file = join(folder, 'tandem.db');
    const store = openSqliteStore({ file, clock });
    const scope = { owner: 'anna', sealKey: new Uint8Array(32).fill(9) };
    const data = Uint8Array.from(Buffer.from('a very secret sentence'));
    await store.blobs.put(scope, [{ id: new Uint8Array(32).fill(2), data }]);
    const exec = {
      conversationId: 'c',
      callId: 'x',
      step: 0,
      requestId: 'r',
      argsHash: new Uint8Array(32),
      seqno: 1,
      bytes: data,
    };
    await store.ledger.recordExec(scope, exec);
    const everything = () => Buffer.concat(readdirSync(folder).map(name => readFileSync(join(folder, name))));
    expect(everything().includes('secret sentence')).toBe(false);
    await store.ledger.recordExec({ owner: 'anna' }, exec); // and would be found if it were not sealed
    expect(everything().includes('secret sentence')).toBe(true);
    await store.close();
  });

  it('brings a file of an older version up to date and keeps what is in it', async () => {
    const file = join(folder, 'tandem.db');
    const old = new DatabaseSync(file);
    old.exec(`${migrations[0]} PRAGMA user_version = 1;`);
    old
      .prepare('INSERT INTO exec_records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run('anna', 'c', 'x', 0, 5, new Uint8Array(32), 0, clock.now(), Uint8Array.of(7));
    old.close();
    const store = openSqliteStore({ file, clock });
    expect(await store.ledger.execRecords({ owner: 'anna' }, 'c', 'x')).toMatchObject([{ seqno: 5, requestId: '' }]);
    await store.close();
  });

  it('refuses a file of a newer version, and says so', () => {
    const file = join(folder, 'tandem.db');
    const newer = new DatabaseSync(file);
    newer.exec(`PRAGMA user_version = ${migrations.length + 1};`);
    newer.close();
    expect(() => openSqliteStore({ file, clock })).toThrow(/newer version \(schema \d+, this one knows \d+\)/);
  });
});
