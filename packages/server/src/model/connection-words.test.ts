import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connectionWords } from './connection-words.ts';
import { providerFetch } from './provider-fetch.ts';

/** What is said of a request to this address. */
async function wordsFor(url: string): Promise<string> {
  return providerFetch(url, { signal: AbortSignal.timeout(20_000) }).then(
    ({ status }) => `it answered ${status}`,
    connectionWords,
  );
}

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-words-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost'];
  execFileSync('openssl', ['req', '-x509', ...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const files = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return files;
}

it('[bad-provider-connection] a connection that fails is told in words, with the code of the system', async () => {
  const cut = await listen(net.createServer(socket => socket.resetAndDestroy()));
  const plain = await listen(http.createServer((_, response) => response.end()));
  expect(await wordsFor('http://127.0.0.1:65534/')).toBe('nobody listens there (ECONNREFUSED)');
  expect(await wordsFor('http://127.0.0.1:1/')).toBe('its port is one that HTTP never calls');
  expect(await wordsFor(`http://127.0.0.1:${cut}/`)).toMatch(
    /^the connection was cut \((ECONNRESET|UND_ERR_SOCKET)\)$/,
  );
  expect(await wordsFor(`https://127.0.0.1:${plain}/`)).toMatch(/^it does not speak TLS, .*http:\/\/ \(ERR_SSL_/);
});

it('[bad-provider-connection] a certificate that nobody here knows names the variable that makes it known', async () => {
  const { key, cert } = selfSigned();
  const port = await listen(https.createServer({ key, cert }));
  expect(await wordsFor(`https://127.0.0.1:${port}/`)).toBe(
    'its certificate is signed by itself; NODE_EXTRA_CA_CERTS=FILE, set before the start, names one to trust (DEPTH_ZERO_SELF_SIGNED_CERT)',
  );
});

it('[bad-provider-connection] what has no code is told in its own words, without the outer ones', () => {
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  expect(connectionWords(late)).toBe('it did not answer in time');
  expect(connectionWords(new TypeError('fetch failed', { cause: new Error('a new one') }))).toBe('a new one');
  const several = new AggregateError([Object.assign(new Error('connect'), { code: 'ENETUNREACH' })]);
  expect(connectionWords(several)).toBe('no way of the network leads there (ENETUNREACH)');
});
