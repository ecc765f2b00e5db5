import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createProviderFetch } from './provider-fetch.ts';

/** A server of one text. */
async function startTarget(): Promise<number> {
  const server = createServer((_, outgoing) => outgoing.end('answered'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A proxy that takes every host for the target, and the hosts that it was asked for. */
async function startProxy(target: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const sockets: Socket[] = [];
  const proxy = createServer((incoming, outgoing) => {
    asked.push(new URL(incoming.url ?? '').host);
    forward({ port: target, path: '/' }, answer => answer.pipe(outgoing)).end();
  });
  proxy.on('connect', (incoming, socket: Socket) => {
    asked.push(incoming.url ?? '');
    const upstream = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.push(socket, upstream);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

test.each(['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY'])(
  '[product-provider-proxy] %s is used for hosts elsewhere and never for this machine',
  async name => {
    const target = await startTarget();
    const proxy = await startProxy(target);
    const fetch = createProviderFetch({ [name]: proxy.url });
    for (const host of [`127.0.0.1:${target}`, `localhost:${target}`]) {
      expect(await (await fetch(`http://${host}/v1`, {})).text()).toBe('answered');
    }
    expect(proxy.asked).toEqual([]);
    if (name === 'HTTPS_PROXY') return;
    expect(await (await fetch('http://provider.test:80/v1', {})).text()).toBe('answered');
    expect(proxy.asked.map(asked => asked.replace(/:80$/, ''))).toEqual(['provider.test']);
  },
);

test('[product-provider-proxy] NO_PROXY names hosts that are called without it', async () => {
  const target = await startTarget();
  const proxy = await startProxy(target);
  const fetch = createProviderFetch({ HTTP_PROXY: proxy.url, NO_PROXY: 'provider.invalid' });
  await expect(fetch('http://provider.invalid/v1', {})).rejects.toThrow();
  expect(proxy.asked).toEqual([]);
});
