import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { fastClock } from '../../test/clocks.ts';
import { startFakeCallServer } from '../../test/fake-call-server.ts';
import type { FakeCall } from '../../test/fake-call-server.ts';
import { FakeServer } from '../../test/fake-server.ts';
import { AgentClient } from '../client.ts';
import type { Executors } from '../executor.ts';
import { nodeTransport } from './transport-node.ts';
import type { NodeTransportOptions } from './transport-node.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function clientOf(baseUrl: string, options: NodeTransportOptions, executors: Executors = []): AgentClient {
  const transport = nodeTransport({ env: {}, ...options });
  closers.push(() => transport.close());
  return new AgentClient({ baseUrl, apiKey: 'key', transport, executors, clock: fastClock(20) });
}
async function serve(
  script: (call: FakeCall, index: number) => void | Promise<void>,
  tls?: { key: string; cert: string },
) {
  const server = await startFakeCallServer(script, tls);
  closers.push(() => server.close());
  return server;
}
function finish(call: FakeCall, text = 'done'): void {
  call.send({ case: 'interactionUpdate', value: { message: { case: 'textDelta', value: { text } } } });
  call.send({ case: 'conversationCheckpointUpdate', value: {} });
  call.send({ case: 'interactionUpdate', value: { message: { case: 'turnEnded', value: {} } } });
  call.end();
}
function certificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject],
    { stdio: 'ignore' },
  );
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

it('[R1-run-client] plays a run on one call of HTTP/2, both directions at once', async () => {
  const server = await serve(async call => {
    await call.next('runRequest');
    call.send({ case: 'execServerMessage', value: { id: 1, message: { case: 'readArgs', value: { path: 'a' } } } });
    await call.next('execClientMessage');
    await call.next('execClientControlMessage');
    expect(call.headers).toMatchObject({ authorization: 'Bearer key', 'content-type': 'application/connect+proto' });
    finish(call);
  });
  const executors: Executors = [
    { kind: 'readArgs', run: () => Promise.resolve({ case: 'readResult', value: {} as never }) },
  ];
  const run = clientOf(server.url, { http2: 'always' }, executors).run({ prompt: 'hello' });
  expect(await run.done).toMatchObject({ outcome: 'ended', text: 'done' });
});

it('[R2-client] takes HTTP/2 where a server offers it over TLS, and trusts only what it is told to', async () => {
  const tls = certificate();
  const server = await serve(async call => {
    await call.next('runRequest');
    finish(call);
  }, tls);
  expect(await clientOf(server.url, { ca: tls.cert }).run({ prompt: 'hello' }).done).toMatchObject({
    outcome: 'ended',
  });
  expect(await clientOf(server.url, {}).run({ prompt: 'hello' }).done).toMatchObject({
    outcome: 'failed',
    error: { message: expect.stringMatching(/self.signed/i) },
  });
});

it('cancels on the call and leaves', async () => {
  const server = await serve(async call => {
    await call.next('runRequest');
    await call.next('conversationAction');
  });
  const run = clientOf(server.url, { http2: 'always' }).run({ prompt: 'hello' });
  setTimeout(() => run.cancel(), 50);
  expect((await run.done).outcome).toBe('cancelled');
});

it('T22: survives connections that break, and tries again on a new one', async () => {
  const server = await serve(async (call, index) => {
    await call.next('runRequest');
    if (index === 0) call.session.destroy();
    else if (index === 1) call.stream.close(2);
    else finish(call);
  });
  const run = clientOf(server.url, { http2: 'always' }).run({ prompt: 'hello' });
  expect(await run.done).toMatchObject({ outcome: 'ended' });
});

it('T22: an abort between the head and the body of an answer is told to the reader of the body, and to nobody else', async () => {
  const server = http.createServer((_request, response) => response.writeHead(200).flushHeaders());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const controller = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const answer = await nodeTransport({}).exchange({ method: 'GET', url, headers: {}, signal: controller.signal });
  controller.abort(new Error('not wanted any more'));
  await new Promise(resolve => setImmediate(resolve));
  const reading = (async () => {
    for await (const chunk of answer.body) expect(chunk).toBeUndefined();
  })();
  await expect(reading).rejects.toThrow(/abort/);
});

it('T22: an abort that meets the end of an answer on a kept connection ends nothing else', async () => {
  const server = http.createServer((_request, response) => response.end('whole'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const transport = nodeTransport({});
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let count = 0; count < 20; count++) {
    const controller = new AbortController();
    const answer = await transport.exchange({ method: 'GET', url, headers: {}, signal: controller.signal });
    const chunks = answer.body[Symbol.asyncIterator]();
    await chunks.next();
    controller.abort(new Error('not wanted any more'));
    await chunks.return?.().catch(() => undefined);
    await new Promise(resolve => setImmediate(resolve));
  }
  transport.close();
});

it('keeps to RunSSE and BidiAppend over HTTP/1.1 where there is no TLS', async () => {
  const server = await FakeServer.start(async stream => {
    await stream.runRequest();
    stream.finish();
  });
  closers.push(() => server.close());
  expect(await clientOf(server.url, {}).run({ prompt: 'hello' }).done).toMatchObject({
    outcome: 'ended',
    text: 'done',
  });
});

it('T07: reaches this machine directly whatever proxy the environment names', async () => {
  const server = await FakeServer.start(async stream => {
    await stream.runRequest();
    stream.finish();
  });
  closers.push(() => server.close());
  const env = { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' };
  expect(await clientOf(server.url, { env }).run({ prompt: 'hello' }).done).toMatchObject({ outcome: 'ended' });
});

it('T07: goes through the proxy that the environment names, for plain and for secure addresses', async () => {
  const tls = certificate();
  const asked: string[] = [];
  const answer: http.RequestListener = (request, response) => {
    asked.push(request.url ?? '');
    response.end(JSON.stringify({ items: [{ id: 'm' }] }));
  };
  const target = https.createServer(tls, answer);
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve));
  const proxy = http.createServer(answer);
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`);
    const onward = net.connect((target.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    proxy.closeAllConnections();
    target.closeAllConnections();
    proxy.close();
    target.close();
  });
  const named = `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const env = { HTTP_PROXY: named, HTTPS_PROXY: named };
  expect(await clientOf('http://far.example', { env }).models()).toEqual([{ id: 'm' }]);
  expect(asked).toEqual(['http://far.example/v1/models']);
  // Its certificate is not for that name: the way was made, and then not trusted.
  await expect(clientOf('https://far.example', { env, ca: tls.cert }).models()).rejects.toThrow(/certificate|altname/i);
  expect(asked[1]).toBe(`CONNECT far.example:443 Basic ${Buffer.from('user:pass').toString('base64')}`);
});
