import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { END_HEADERS, FRAME, PREFACE, headerBlock, http2Frame, readFrames } from '../hostile/http2-frames.ts';
import { eventually } from '../support/eventually.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { AskedExec, PeerOptions } from '../support/peer.ts';
import { http2Ways, ways } from '../support/ways.ts';
import { RUN_SSE, fetchWhole } from '../support/wire.ts';

/** What a header of one hop may look like; over HTTP/2 a client cannot send the rest without breaking the rules. */
const HOP_HEADERS = {
  h1: {
    connection: 'keep-alive, upgrade, http2-settings, x-hop',
    'keep-alive': 'timeout=5',
    te: 'trailers',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAoAAA',
    'proxy-connection': 'keep-alive',
    'proxy-authorization': 'Basic aG9wOmhvcA==',
    'x-hop': 'aG9wOmhvcA==',
  },
  h2c: { te: 'trailers', 'proxy-authorization': 'Basic aG9wOmhvcA==' },
} as const;
const FORBIDDEN_OVER_HTTP2 = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te'];

const shell = { name: 'Shell', args: { command: 'make test' } };
const words = 'word '.repeat(40_000);

describe.each(ways)('$name', ({ transport, way, secure }) => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ transport, secure });
  });
  afterAll(() => house.close());
  const newPeer = (options: Partial<PeerOptions> = {}) => house.peer({ way, ...options });

  it.each(['gzip', 'br'])('[R5-codec-on-every-way] packs large frames with %s when it is asked to', async accept => {
    house.say({ text: words }, { text: words });
    const [packed, plain] = [await newPeer({ accept }).turn('talk'), await newPeer().turn('talk')];
    expect([packed.text, plain.text]).toEqual([words, words]);
    expect([...packed.faults, ...plain.faults]).toEqual([]);
    const count = (peer: typeof packed) => peer.packedPolls + peer.frames.filter(({ compressed }) => compressed).length;
    expect([count(packed) > 0, count(plain)]).toEqual([true, 0]);
    const codecs = await Promise.all([packed, plain].map(peer => peer.calls.at(-1)!.head));
    expect(codecs.map(({ headers }) => headers['connect-content-encoding'])).toEqual([accept, undefined]);
  });

  it('[R2-hop-headers] plays a turn whatever the headers of its hop say, and hands none of them on', async () => {
    house.say({ calls: [shell] }, { text: 'done' });
    const peer = await newPeer({ headers: HOP_HEADERS[transport] }).turn('run it');
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
    for (const { headers, text } of house.requests) {
      expect([...Object.values(headers).flat(), text].join()).not.toContain('aG9wOmhvcA==');
      for (const name of ['proxy-authorization', 'proxy-connection', 'upgrade', 'x-hop'])
        expect(headers).not.toHaveProperty(name);
    }
    expect(JSON.stringify(house.server.log)).not.toContain('aG9wOmhvcA==');
  });

  it.runIf(transport === 'h1')(
    '[R2-every-way] keeps its connections for appends that come a minute apart',
    async () => {
      const { url } = house.server;
      const { headers } = await fetchWhole({ url, path: '/healthz', method: 'GET', transport });
      expect([headers.connection, headers['keep-alive']]).toEqual(['keep-alive', 'timeout=65']);
    },
  );

  it('[R2-header-case] takes header names in any case', async () => {
    house.say({ text: words });
    const headers = { 'Connect-Accept-ENCODING': 'gzip', 'X-Cursor-Agent-Allowed-Tools': '' };
    const peer = await newPeer({ headers }).turn('talk');
    expect([peer.fault, peer.text]).toEqual([undefined, words]);
    expect(peer.packedPolls + peer.frames.filter(({ compressed }) => compressed).length).toBeGreaterThan(0);
    expect(house.requests[0]!.body).not.toHaveProperty('tools');
  });
});

describe.each(http2Ways)('$name', ({ transport, way, secure }) => {
  it('[R2-hop-headers, R2-header-case] is answered without headers of a hop, all names in lower case', async () => {
    const house = await startHouse({ transport, secure });
    house.say({ text: 'done' });
    const peer = house.peer({ way });
    const { headers } = await peer.open();
    const append = await peer.run('hello');
    await peer.finish();
    const { url } = house.server;
    const whole = await fetchWhole({ url, path: '/healthz', method: 'GET', transport });
    for (const names of [headers, append.headers, whole.headers].map(Object.keys)) {
      expect(names.filter(name => FORBIDDEN_OVER_HTTP2.includes(name))).toEqual([]);
      expect(names.filter(name => name !== name.toLowerCase())).toEqual([]);
    }
    expect(Object.keys(whole.headers)).toContain('content-type');
    await house.close();
  });
});

it('[R2-hop-headers, R2-header-case] a call over HTTP/2 with a header of a hop, or a name in capitals, is reset, and its neighbours are not', async () => {
  const house = await startHouse();
  const socket = net.connect(Number(new URL(house.server.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  const literal = (name: string, value: string) => Buffer.concat([Buffer.of(0), text(name), text(value)]);
  const block = headerBlock(RUN_SSE, 'application/connect+proto');
  const fields = [
    ['connection', 'keep-alive'],
    ['keep-alive', 'timeout=5'],
    ['proxy-connection', 'keep-alive'],
    ['transfer-encoding', 'chunked'],
    ['upgrade', 'h2c'],
    ['te', 'gzip'],
    ['X-Request-Id', 'capitals'],
  ] as const;
  socket.write(Buffer.concat([PREFACE, http2Frame(FRAME.settings, 0, 0)]));
  fields.forEach(([name, value], index) => {
    const whole = Buffer.concat([block, literal(name, value)]);
    socket.write(http2Frame(FRAME.headers, END_HEADERS, 1 + 2 * index, whole));
  });
  const last = 1 + 2 * fields.length;
  socket.write(http2Frame(FRAME.headers, END_HEADERS, last, Buffer.concat([block, literal('te', 'trailers')])));
  await eventually(() => readFrames(received).find(({ stream }) => stream === last), 'answer to the call in order');
  const PROTOCOL_ERROR = 1;
  const frames = readFrames(received);
  for (const [index, [name]] of fields.entries()) {
    const own = frames.filter(({ stream }) => stream === 1 + 2 * index);
    expect([name, own.map(({ type }) => type), own[0]?.payload.readUInt32BE()]).toEqual([
      name,
      [FRAME.reset],
      PROTOCOL_ERROR,
    ]);
  }
  expect(frames.find(({ stream }) => stream === last)!.type).toBe(FRAME.headers);
  expect(frames.filter(({ type }) => type === FRAME.goAway)).toEqual([]);
  socket.destroy();
  await house.close();
});

describe.each(ways.filter(({ way }) => way === 'run'))('$name, of which the client closed its direction', way => {
  let house: House;
  beforeAll(async () => {
    house = await startHouse({ ...way, standing: true });
  });
  afterAll(() => house.close());
  const newPeer = (options: Partial<PeerOptions> = {}) => house.peer({ way: 'run', ...options });
  const turn = [{ calls: [shell] }, { text: 'done' }];

  it('[R20-half-close] comes whole when it was closed behind the last answer', async () => {
    house.say(...turn);
    const questions = (await newPeer().turn('run it')).all('kv.setBlobArgs').length;
    expect(questions).toBeGreaterThan(0);
    house.say(...turn);
    let answered = 0;
    const peer = newPeer({
      onBlob: async blob => {
        await blob.auto();
        if (++answered === questions) peer.calls[0]!.end();
      },
    });
    await peer.turn('run it');
    expect(answered).toBe(questions);
    expect([peer.fault, peer.text, peer.faults]).toEqual([undefined, 'done', []]);
    expect(peer.order.slice(-3)).toEqual(['checkpoint', 'update.turnEnded', 'end']);
    expect(await peer.calls[0]!.closed).toEqual({ whole: true });
  });

  it('[R20-half-close] lives on while the model speaks', async () => {
    house.say({ events: [{ text: 'first ' }, { gate: `half ${way.name}` }, { text: 'second' }] });
    const peer = newPeer();
    await peer.open();
    await peer.run('talk');
    await peer.wait('update.textDelta');
    peer.calls[0]!.end();
    await house.clock.pass(20_000);
    house.provider.open(`half ${way.name}`);
    await peer.until(() => (peer.text === 'first second' ? true : undefined), 'rest of the answer');
    expect(peer.end).toBeUndefined();
    peer.drop();
    await eventually(() => house.server.load.runs === 0, 'end of the run');
  });

  it('[R20-half-close] waits out the deadline of an open tool, tells the model, and is never taken for a cancel', async () => {
    house.say(...turn);
    const asked = Promise.withResolvers<AskedExec>();
    let isClosed = false;
    const peer = newPeer({
      on: { shellStreamArgs: exec => asked.resolve(exec) },
      onBlob: blob => (isClosed ? undefined : blob.auto()),
    });
    await peer.open();
    await peer.run('run it');
    const { args } = await asked.promise;
    peer.calls[0]!.end();
    isClosed = true;
    await house.clock.pass(30_000, 1_000);
    await peer.until(() => peer.all('update.heartbeat').length >= 6 || undefined, 'heartbeats');
    expect([peer.end, house.requests.length]).toEqual([undefined, 1]);
    await house.clock.pass(Number(args.timeout) + 60_000, 1_000);
    await peer.wait('update.toolCallCompleted');
    // nobody can acknowledge the blob with the result any more
    for (let waited = 0; waited < 120 && !peer.end; waited += 10) await house.clock.pass(10_000, 1_000);
    await peer.finish();
    expect(peer.fault!.code).not.toBe('canceled');
    expect(peer.fault!.detail).toMatch(/did not acknowledge blob/);
  });

  it('[R20-half-close] without a run request has nothing to wait for', async () => {
    const peer = newPeer();
    await peer.open();
    peer.calls[0]!.end();
    await peer.finish();
    expect(peer.fault).toMatchObject({ code: 'invalid_argument' });
    expect(peer.fault!.detail).toContain('without a run request');
  });
});
