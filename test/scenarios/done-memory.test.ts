import { encodeEnvelope } from '@tandem/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import {
  APPEND,
  RUN_SSE,
  closeConnections,
  fetchWhole,
  openCall,
  streamHeaders,
  transports,
  unaryHeaders,
} from '../support/wire.ts';

/** Longer than anything a server remembers of a stream: placeholders, grace, ended streams. */
const LONG = 10 * 60_000;

describe.each(transports)('what is left after everything went wrong, over %s', transport => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport, standing: true });
  });
  afterAll(() => house.close());

  it('[done-memory-returns] is nothing: no stream, no run, no timer', async () => {
    const { server, clock } = house;
    const { url } = server;
    const atRest = clock.pending;

    // bodies that are no messages
    for (let i = 0; i < 10; i++) {
      const garbage = Buffer.alloc(50 + i * 97, 17 * i + 1);
      const append = await fetchWhole({ url, path: APPEND, transport, headers: unaryHeaders(), body: garbage });
      expect(append.status).toBeGreaterThanOrEqual(400);
      const stream = await fetchWhole({
        url,
        path: RUN_SSE,
        transport,
        headers: streamHeaders(),
        body: i % 2 ? garbage : encodeEnvelope(garbage),
      });
      expect(stream.status).toBe(200);
    }
    // streams without a run, appends without a stream, a gap that never closes
    const lonely = house.peer();
    await lonely.open();
    const unread = house.peer();
    await unread.heartbeat();
    await house.peer().heartbeat({ seqno: 3 });
    const holed = house.peer();
    await holed.send(holed.runRequest('never begins'), { seqno: 5 });
    // a request that breaks off
    const broken = openCall({ url, path: RUN_SSE, transport, headers: streamHeaders() });
    broken.write(Uint8Array.of(0, 0, 0));
    await broken.head;
    broken.destroy();

    // runs that end in every other way than well
    house.say({ status: { code: 401 } });
    expect((await house.peer().turn('refused')).fault).toBeDefined();
    house.say({ events: [{ text: 'half ' }, { reset: true }] });
    expect((await house.peer().turn('cut')).fault).toBeDefined();
    house.say({ events: [{ text: 'hm ' }, { hang: true }] });
    const cancelled = house.peer();
    await cancelled.open();
    await cancelled.run('hang');
    await cancelled.wait('update.textDelta');
    await cancelled.cancel();
    expect((await cancelled.finish()).fault?.code).toBe('canceled');

    house.say({ calls: [{ name: 'Shell', args: { command: 'sleep' } }] }, { text: 'over' });
    const older = house.peer({ on: { shellStreamArgs: () => {} } });
    await older.open();
    await older.run('wait');
    await older.wait('exec.shellStreamArgs');
    house.say({ events: [{ text: 'hm ' }, { hang: true }] });
    const newer = older.next();
    await newer.open();
    await newer.run('instead');
    await newer.wait('update.textDelta');
    expect((await older.finish()).fault?.code).toBe('failed_precondition');
    newer.drop();

    closeConnections();
    // the server notices the closed sockets by itself; then all that waits for a time gets its time
    await eventually(() => {
      clock.advance(LONG);
      return server.load.runs === 0 && server.load.streams === 0;
    }, 'end of every run and stream');
    await eventually(() => clock.pending === atRest, `return to ${atRest} timers`);
    expect(server.load).toEqual({ streams: 0, runs: 0 });

    // and it works as on the first day
    house.say({ text: 'fine' });
    const after = await house.peer().turn('how are you?');
    expect(after.text).toBe('fine');
    expect(after.faults).toEqual([]);
  });
});
