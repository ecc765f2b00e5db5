import { FetchArgsSchema } from '@tandem/protocol/agent';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { branchOf, makeMachine, runExecutor } from '../../test/machine.ts';
import { isPrivateAddress } from './address.ts';
import { fetchExecutor } from './fetch.ts';
import { parseRule } from './permission-rule.ts';
import { proxyOf } from './proxy.ts';

let server: http.Server;
let url: string;
let seen: string[];
beforeEach(async () => {
  seen = [];
  server = http.createServer((request, response) => {
    seen.push(request.url ?? '');
    switch (request.url) {
      case '/page':
        return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>hello 漢字</p>');
      case '/latin':
        return void response.writeHead(200, { 'content-type': 'text/plain; charset=latin1' }).end(Buffer.from([0xe9]));
      case '/gzip':
        return void response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end(gzipSync('small'));
      case '/there':
        return void response.writeHead(302, { location: '/page' }).end();
      case '/elsewhere':
        return void response.writeHead(302, { location: url.replace('127.0.0.1', '127.0.0.2') }).end();
      case '/loop':
        return void response.writeHead(301, { location: '/loop' }).end();
      case '/file':
        return void response.writeHead(200, { 'content-type': 'application/zip' }).end(Buffer.from([0, 1, 2]));
      case '/bomb':
        return void response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(20_000_000, 97)));
      case '/cut':
        response.writeHead(200, { 'content-length': '100' }).write('part');
        return void setTimeout(() => response.destroy(), 20);
      default:
        return void response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function fetchPage(
  address: string,
  options: Parameters<typeof makeMachine>[1] = { rules: [parseRule('allow', 'fetch: 127.0.0.1')] },
) {
  const { machine } = makeMachine({}, options);
  return branchOf((await runExecutor(fetchExecutor(machine), FetchArgsSchema, { url: address }))[0]);
}

it('[R37-fetch] gives a page with its status and type, decoded, and follows redirects', async () => {
  expect(await fetchPage(`${url}/page`)).toMatchObject([
    'success',
    { url: `${url}/page`, content: '<p>hello 漢字</p>', statusCode: 200, contentType: 'text/html; charset=utf-8' },
  ]);
  expect(await fetchPage(`${url}/there`)).toMatchObject(['success', { content: '<p>hello 漢字</p>' }]);
  expect(await fetchPage(`${url}/gzip`)).toMatchObject(['success', { content: 'small' }]);
  expect(await fetchPage(`${url}/latin`)).toMatchObject(['success', { content: 'é' }]);
  expect(await fetchPage(`${url}/none`)).toMatchObject(['success', { statusCode: 404, content: 'nothing here' }]);
});

it('[product-fetch-private] asks nothing of a loopback address in auto, and says why', async () => {
  expect(await fetchPage(`${url}/page`, {})).toMatchObject([
    'error',
    { error: expect.stringContaining('loopback or private') },
  ]);
  expect(await fetchPage(url.replace('127.0.0.1', 'localhost'), {})).toMatchObject([
    'error',
    { error: expect.stringContaining('loopback') },
  ]);
  expect(seen).toEqual([]);
});

it('judges the target of a redirect anew', async () => {
  expect(await fetchPage(`${url}/elsewhere`)).toMatchObject(['error', { error: expect.stringContaining('127.0.0.2') }]);
  expect(seen).toEqual(['/elsewhere']);
});

it('fetches nothing in a read-only run', async () => {
  expect(
    await fetchPage(`${url}/page`, { mode: 'read-only', rules: [parseRule('allow', 'fetch: 127.0.0.1')] }),
  ).toMatchObject(['error', { error: expect.stringContaining('read-only') }]);
  expect(seen).toEqual([]);
});

it.each([
  ['/loop', /more than 10 times/],
  ['/file', /application\/zip/],
  ['/cut', /./],
])('gives an error for %s', async (path, message) => {
  expect(await fetchPage(url + path)).toMatchObject(['error', { error: expect.stringMatching(message) }]);
});

it.each(['file:///etc/passwd', 'ftp://a/b', 'not a url', 'http://user:secret@127.0.0.1/'])(
  'refuses %s without repeating a secret',
  async address => {
    const [branch, value] = await fetchPage(address);
    expect(branch).toBe('error');
    expect(value['error']).not.toContain('secret');
  },
);

it('keeps the head of a page that is too long, however small it was on the way', async () => {
  const [branch, value] = await fetchPage(`${url}/bomb`);
  expect([branch, (value['content'] as string).length]).toEqual(['success', 8 * 1024 * 1024]);
});

it('gives an error for a port where nobody listens', async () => {
  expect(await fetchPage('http://127.0.0.1:9/x')).toMatchObject([
    'error',
    { error: expect.stringContaining('ECONNREFUSED') },
  ]);
});

it.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::',
  'fe80::1%eth0',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '168.63.129.16',
  '::7f00:1',
  '::ffff:0:a00:1',
  'nonsense',
])('takes %s for a private address', address => expect(isPrivateAddress(address)).toBe(true));

it.each(['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])('takes %s for a public address', address =>
  expect(isPrivateAddress(address)).toBe(false),
);

it('T07: goes directly to this machine and to what NO_PROXY names, and else by the proxy', () => {
  const env = { HTTPS_PROXY: 'http://proxy:1', http_proxy: 'proxy:2', NO_PROXY: 'a.example, .b.example,c.example:444' };
  const way = (address: string) => proxyOf(new URL(address), env)?.host;
  expect(
    [
      'http://127.0.0.1',
      'http://localhost',
      'https://[::1]',
      'https://a.example',
      'https://x.b.example',
      'https://c.example:444',
    ].map(way),
  ).toEqual(Array(6).fill(undefined));
  expect(
    ['https://other.example', 'http://other.example', 'https://c.example', 'https://nota.example'].map(way),
  ).toEqual(['proxy:1', 'proxy:2', 'proxy:1', 'proxy:1']);
});

it('T07: asks a proxy for the page when one is named', async () => {
  const { machine } = makeMachine({}, { rules: [parseRule('allow', 'fetch: far.example')] });
  machine.env['HTTP_PROXY'] = url;
  expect(
    branchOf((await runExecutor(fetchExecutor(machine), FetchArgsSchema, { url: 'http://far.example/page' }))[0])[0],
  ).toBe('success');
  expect(seen).toEqual(['http://far.example/page']);
});
