import { encodeEndStream, encodeEnvelope, fault } from '@tandem/protocol';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { AgentClient } from '../../src/client.ts';
import { nodeTransport } from '../../src/node/transport-node.ts';
import { fastClock } from '../clocks.ts';
import { startFakeCallServer } from '../fake-call-server.ts';
import type { Intercept } from '../fake-server.ts';
import { collectRun, startHouse } from '../run-house.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const isAppend = (request: http.IncomingMessage) => request.url?.endsWith('/BidiAppend') === true;
const MEGABYTE = 1024 * 1024;

it('T02: an append that fails once is never sent again, and the next attempt has a request of its own', async () => {
  const posted: string[] = [];
  let failed = false;
  const intercept: Intercept = (request, response, body) => {
    if (!isAppend(request)) return false;
    posted.push(body.toString('latin1'));
    if (failed) return false;
    failed = true;
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"code":"internal","message":"disk full"}');
    return true;
  };
  const house = await startHouse(
    async stream => {
      if (stream.index === 0) return await stream.gone();
      await stream.runRequest();
      stream.finish();
    },
    {},
    intercept,
  );
  const { events, end } = await collectRun(house.client.run({ prompt: 'Go.' }));
  expect(events.find(event => event.type === 'retry')).toMatchObject({ reason: expect.stringContaining('disk full') });
  expect([end.outcome, new Set(posted).size]).toEqual(['ended', posted.length]);
  const [first, second] = house.server.streams;
  expect(second!.requestId).not.toBe(first!.requestId);
});

it('T02: an answer to an append is read no further than its bound', async () => {
  let written = 0;
  const intercept: Intercept = (request, response) => {
    if (!isAppend(request)) return false;
    response.writeHead(200, { 'content-type': 'application/proto' });
    const more = () => {
      while (!response.destroyed && written < 256 * MEGABYTE) {
        written += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
    return true;
  };
  const house = await startHouse(stream => stream.gone(), { transport: nodeTransport({ http2: 'never' }) }, intercept);
  const run = house.client.run({ prompt: 'Go.' });
  for await (const event of run) if (event.type === 'retry') run.cancel();
  await run.done;
  // What lies in socket buffers counts as written too.
  expect(written).toBeLessThan(32 * MEGABYTE);
});

it('T02: runs whose appends fail leave nothing of their messages in memory', async () => {
  const intercept: Intercept = (request, response) => {
    if (!isAppend(request)) return false;
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"code":"invalid_argument","message":"no"}');
    return true;
  };
  const house = await startHouse(stream => stream.gone(), {}, intercept);
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const failedRun = async () => {
    const images = [{ mimeType: 'image/png', data: new Uint8Array(2 * MEGABYTE) }];
    expect((await house.client.run({ prompt: 'Go.', images }).done).error?.message).toContain('no');
  };
  const held = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  await failedRun();
  const before = held();
  for (let count = 0; count < 20; count++) await failedRun();
  // Each run had two megabytes of image, six with its message and its hexadecimal form.
  expect(held() - before).toBeLessThan(20 * MEGABYTE);
});

it('T04: a refusal by HTTP status is an error with code and words, and its body is never taken for frames', async () => {
  const body = Buffer.concat([Buffer.from('{"code":"unauthenticated","message":"bad token"}')]);
  const house = await startHouse(
    () => undefined,
    {},
    (request, response) => {
      if (request.url?.endsWith('/RunSSE') !== true) return false;
      response.writeHead(401, { 'content-type': 'application/json' }).end(body);
      return true;
    },
  );
  expect((await house.client.run({ prompt: 'Go.' }).done).error).toMatchObject({
    code: 'unauthenticated',
    message: expect.stringContaining('bad token'),
    retryable: false,
  });
});

it('T04: frames under an error status are no run, however good they look', async () => {
  const house = await startHouse(
    () => undefined,
    {},
    (request, response) => {
      if (request.url?.endsWith('/RunSSE') !== true) return false;
      response.writeHead(403, { 'content-type': 'application/connect+proto' });
      response.end(encodeEnvelope(encodeEndStream(undefined), 2));
      return true;
    },
  );
  const { events, end } = await collectRun(house.client.run({ prompt: 'Go.' }));
  expect([events.map(event => event.type), end.error?.code]).toEqual([['end'], 'permission_denied']);
});

it('T07: loopback is reached directly over both HTTP versions, though the environment names a dead proxy', async () => {
  const env = { HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9', ALL_PROXY: 'http://127.0.0.1:9' };
  const pair = await startHouse(
    async stream => {
      await stream.runRequest();
      stream.finish();
    },
    { transport: nodeTransport({ env, http2: 'never' }) },
  );
  const call = await startFakeCallServer(async one => {
    await one.next('runRequest');
    one.send({ case: 'interactionUpdate', value: { message: { case: 'turnEnded', value: {} } } });
    one.end();
  });
  closers.push(() => call.close());
  const overCall = new AgentClient({
    baseUrl: call.url,
    executors: [],
    transport: nodeTransport({ env, http2: 'always' }),
  });
  const ends = [pair.client, overCall].map(client => client.run({ prompt: 'Go.' }).done);
  expect((await Promise.all(ends)).map(end => end.outcome)).toEqual(['ended', 'ended']);
});

it('T07: everything else goes by the proxy that the environment names', async () => {
  const asked: string[] = [];
  const proxy = http.createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{"items":[]}');
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  closers.push(() => (proxy.closeAllConnections(), proxy.close()));
  const env = { http_proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  const client = new AgentClient({ baseUrl: 'http://far.example', executors: [], transport: nodeTransport({ env }) });
  expect(await client.models()).toEqual([]);
  expect(asked).toEqual(['http://far.example/v1/models']);
});

it('T11: a compressed frame that nobody asked for fails the run, and is not lost', async () => {
  const transport = { ...nodeTransport({ http2: 'never' }), codecs: new Map() };
  const house = await startHouse(
    async stream => {
      await stream.runRequest();
      expect(stream.headers['connect-accept-encoding']).toBeUndefined();
      stream.write(encodeEnvelope(gzipSync(Buffer.from('lost')), 1));
      stream.finish('');
    },
    { transport },
  );
  const end = await house.client.run({ prompt: 'Go.' }).done;
  expect(end).toMatchObject({ outcome: 'failed', error: { message: expect.stringContaining('compressed') } });
});

it('T21: a failed run tells one error to who awaits it and to who reads it, and rejects nothing', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  closers.push(() => process.off('unhandledRejection', note));
  const house = await startHouse(async stream => {
    await stream.runRequest();
    stream.end(fault('unknown_model', 'There is no model gtp-5.'));
  });
  const run = house.client.run({ prompt: 'Go.' });
  const { events } = await collectRun(run);
  const error = { code: 'invalid_argument', message: 'There is no model gtp-5.' };
  expect((await run.done).error).toMatchObject(error);
  expect(events.filter(event => event.type === 'end')).toMatchObject([{ outcome: 'failed', error }]);
  // And a run whose end nobody ever asks for.
  house.client.run({ prompt: 'Go.' });
  await house.client.run({ prompt: 'Go.' }).done;
  await new Promise(resolve => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

it('T22: a hundred resets in mid-run cost their attempts, and the process lives', async () => {
  const call = await startFakeCallServer(async one => {
    await one.next('runRequest');
    one.session.socket.resetAndDestroy();
  });
  closers.push(() => call.close());
  const client = new AgentClient({
    baseUrl: call.url,
    executors: [],
    transport: nodeTransport({ http2: 'always' }),
    clock: fastClock(1_000),
  });
  const ends = [];
  for (let count = 0; count < 100; count++) {
    const run = client.run({ prompt: 'Go.' });
    for await (const event of run) if (event.type === 'retry') run.cancel();
    ends.push((await run.done).outcome);
  }
  expect(new Set(ends)).toEqual(new Set(['cancelled']));
});
