import { once } from 'node:events';
import type http2 from 'node:http2';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { END_HEADERS, FRAME, PREFACE, headerBlock, http2Frame, readFrames } from '../hostile/http2-frames.ts';
import { eventually } from '../support/eventually.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import { http2Ways, ways } from '../support/ways.ts';
import { RUN_SSE, closeConnections, fetchWhole, sessionTo } from '../support/wire.ts';

const MEBIBYTE = 1024 * 1024;

function ping(session: http2.ClientHttp2Session): Promise<number> {
  return new Promise((resolve, reject) => {
    session.ping((error, took) => (error ? reject(error) : resolve(took)));
  });
}

/** An answer of that many pieces of a mebibyte, each different, and how many of them the model could say so far. */
function sayMuch(house: House, name: string, pieces: number) {
  const texts = Array.from({ length: pieces }, (_, piece) => `${piece} `.padEnd(MEBIBYTE, '0123456789'));
  house.say({ events: texts.flatMap((text, piece) => [{ text }, { gate: `${name} ${piece}` }]) });
  let said = 0;
  for (let piece = 0; piece < pieces; piece++) {
    house.provider.open(`${name} ${piece}`);
    void house.provider.untilWaiting(`${name} ${piece}`).then(() => said++);
  }
  return { whole: () => texts.join(''), said: () => said };
}

describe.each(ways.filter(({ way }) => way !== 'poll'))(
  '$name, whose reader stops',
  ({ name, transport, way, secure }) => {
    it('[R19-slow-reader] stops the model at a bound, holds up no other stream, and gives every byte later', async () => {
      const house = await startHouse({ transport, secure });
      // the system keeps as much as ten mebibytes for a connection of HTTP/1.1 that nobody reads; HTTP/2 has windows
      const pieces = transport === 'h1' ? 32 : 24;
      const { whole, said } = sayMuch(house, name, pieces);
      const slow = house.peer({ way });
      await slow.open();
      await slow.run('say much');
      await slow.wait('update.textDelta');
      slow.calls[0]!.pause();
      // others go on beside it, over HTTP/2 on the same connection, for as long as the model gets rid of anything
      let before = -1;
      let turns = 0;
      while (turns < 3 || said() > before) {
        before = said();
        house.say({ text: 'meanwhile' });
        const other = await house.peer({ way }).turn('hello');
        expect([other.fault, other.text, other.faults]).toEqual([undefined, 'meanwhile', []]);
        turns++;
      }
      // what the bound allows and what the system keeps, but not all of it
      expect(said()).toBeLessThan(pieces - 3);
      expect(slow.end).toBeUndefined();
      slow.calls[0]!.resume();
      await slow.finish();
      expect([slow.fault, slow.faults, said()]).toEqual([undefined, [], pieces]);
      expect(slow.text === whole()).toBe(true);
      await house.close();
    });
  },
);

describe.each(http2Ways)('a connection of $name', ({ name, transport, way, secure }) => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport, secure });
  });
  afterAll(() => house.close());

  it('[T06-ping-at-any-time] acknowledges a PING before its first stream, beside one that waits, and behind the last', async () => {
    const session = sessionTo(house.server.url);
    if (session.connecting) await once(session, 'connect');
    await ping(session);
    house.say({ events: [{ text: 'first ' }, { gate: `ping ${name}` }, { text: 'second' }] });
    const peer = house.peer({ way });
    await peer.open();
    await ping(session);
    await peer.run('talk');
    await peer.wait('update.textDelta');
    for (let count = 0; count < 20; count++) await ping(session);
    expect(peer.end).toBeUndefined();
    house.provider.open(`ping ${name}`);
    await peer.finish();
    await ping(session);
    expect([peer.fault, peer.text, peer.faults, session.destroyed]).toEqual([undefined, 'first second', [], false]);
  });

  it('[product-client-goaway] plays its streams to their end after a GOAWAY of the client, also on a new connection', async () => {
    house.say(
      {
        events: [
          { text: 'first ' },
          { gate: `away ${name}` },
          { call: { id: 'a', name: 'Shell', args: '{"command":"make"}' } },
        ],
      },
      { text: 'done' },
    );
    const peer = house.peer({ way });
    await peer.open();
    await peer.run('talk');
    await peer.wait('update.textDelta');
    const session = sessionTo(house.server.url);
    session.goaway();
    await eventually(() => session.closed, 'GOAWAY of the server in return');
    house.provider.open(`away ${name}`);
    await peer.finish();
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'first done', []]);
    expect(peer.workspace.done).toEqual(['shell make']);
    house.say({ text: 'again' });
    expect((await house.peer({ way }).turn('hello')).text).toBe('again');
  });
});

describe.each(ways)('a server that shuts down, $name', ({ name, transport, way, secure }) => {
  it('[product-goaway, product-serve-drains] lets its run end with all its answers, refuses the next, and is gone', async () => {
    const house = await startHouse({ transport, secure });
    const gate = `drain ${name}`;
    house.say(
      { events: [{ text: 'first ' }, { gate }, { call: { id: 'a', name: 'Shell', args: '{"command":"make"}' } }] },
      { text: 'done' },
    );
    const peer = house.peer({ way });
    await peer.open();
    await peer.run('talk');
    await peer.wait('update.textDelta');
    const isHttp2 = transport === 'h2c';
    const session = isHttp2 ? sessionTo(house.server.url) : undefined;
    const wentAway = session && once(session, 'goaway');
    const closing = house.server.close({ drainMs: 60_000 });
    if (wentAway) expect((await wentAway)[0]).toBe(0);

    const ready = await fetchWhole({ url: house.server.url, path: '/readyz', method: 'GET', transport });
    expect(ready.status).toBe(503);
    const refused = await house
      .peer({ way })
      .turn('too late')
      .catch((error: Error) => error);
    expect(refused).toMatchObject({ fault: { code: 'unavailable', retryable: true } });

    house.provider.open(gate);
    await peer.finish();
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'first done', []]);
    expect(peer.workspace.done).toEqual(['shell make']);
    await closing;
    expect(house.requests).toHaveLength(2);
    closeConnections();
    const { hostname, port } = new URL(house.server.url);
    const [error] = (await once(net.connect(Number(port), hostname), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    await house.provider.close();
  });
});

it('[product-goaway] takes no new stream on a connection that it told so', async () => {
  const house = await startHouse();
  house.say({ events: [{ text: 'first ' }, { gate: 'told' }, { text: 'last' }] });
  const peer = house.peer();
  await peer.open();
  await peer.run('talk');
  await peer.wait('update.textDelta');
  const socket = net.connect(Number(new URL(house.server.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  const frames = () => readFrames(received);
  const call = (stream: number) =>
    http2Frame(FRAME.headers, END_HEADERS, stream, headerBlock(RUN_SSE, 'application/connect+proto'));
  socket.write(Buffer.concat([PREFACE, http2Frame(FRAME.settings, 0, 0), call(1)]));
  await eventually(() => frames().find(({ stream }) => stream === 1), 'head of the first stream');
  const closing = house.server.close({ drainMs: 60_000 });
  const goAway = await eventually(() => frames().find(({ type }) => type === FRAME.goAway), 'GOAWAY');
  expect([goAway.payload.readUInt32BE(0), goAway.payload.readUInt32BE(4)]).toEqual([1, 0]);
  const streams = house.server.load.streams;
  socket.write(call(3));
  socket.write(http2Frame(FRAME.ping, 0, 0, Buffer.alloc(8, 7)));
  await eventually(
    () => frames().find(({ type, flags }) => type === FRAME.ping && flags === 1),
    'PING behind the call',
  );
  expect(frames().filter(({ stream, type }) => stream === 3 && type === FRAME.headers)).toEqual([]);
  expect(house.server.load.streams).toBe(streams);
  house.provider.open('told');
  await peer.finish();
  expect([peer.fault, peer.text]).toEqual([undefined, 'first last']);
  socket.destroy();
  await closing;
  closeConnections();
  await house.provider.close();
});
