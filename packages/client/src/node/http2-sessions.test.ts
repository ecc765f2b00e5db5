import { once } from 'node:events';
import http2 from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Http2Sessions } from './http2-sessions.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

it('[R1-client-beside-upload] opens new streams beside many megabytes that wait to go up', async () => {
  const held: ServerHttp2Stream[] = [];
  const server = http2.createServer().on('stream', (stream, headers) => {
    if (headers[':path'] === '/large') held.push(stream.pause());
    else stream.respond({ ':status': 200 }, { endStream: true });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const sessions = new Http2Sessions({});
  closers.push(
    () => server.close(),
    () => sessions.close(),
  );
  const { signal } = new AbortController();
  const post = (path: string, body: Uint8Array) =>
    sessions.exchange(new URL(path, `http://127.0.0.1:${(server.address() as AddressInfo).port}`), {
      url: path,
      method: 'POST',
      headers: {},
      body,
      signal,
    });
  expect((await post('/small', Buffer.alloc(10))).status).toBe(200);
  const large = post('/large', Buffer.alloc(24 * 1024 * 1024));
  for (let index = 0; index < 3; index++) expect((await post('/small', Buffer.alloc(10))).status).toBe(200);
  held[0]!.respond({ ':status': 200 });
  held[0]!.end();
  held[0]!.resume();
  expect((await large).status).toBe(200);
});
