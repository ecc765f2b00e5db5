import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { FetchResultSchema } from '@tandem/protocol/agent';
import { lookup as lookupHost } from 'node:dns/promises';
import type http from 'node:http';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { reasonOf } from '../failure.ts';
import type { ExecAnswer, Executor } from '../executor.ts';
import { isPrivateAddress } from './address.ts';
import type { Machine } from './machine.ts';
import type { PageAccess } from './permission.ts';
import { proxyOf } from './proxy.ts';

type Result = NonNullable<MessageInitShape<typeof FetchResultSchema>['result']>;

/** Longest page given, in bytes after decompression; the head is kept. */
const PAGE_CAP = 8 * 1024 * 1024;

/** One page with all its redirects may take this long, apart from questions to a human. */
const DEADLINE = 30_000;

/** Redirects followed; browsers allow more, but honest pages need few. */
const REDIRECTS_CAP = 10;

/**
 * Fetches a page for the server (R37). The address policy is asked for every host on the way, before a byte is sent to it, and the connection
 * goes to the very address that was judged. Only text comes back; cookies and credentials are never sent.
 */
export function fetchExecutor(machine: Machine): Executor<'fetchArgs'> {
  return {
    kind: 'fetchArgs',
    deadlineMs: null,
    async run({ url }, { signal }): Promise<ExecAnswer> {
      let result: Result;
      try {
        result = { case: 'success', value: { url, ...(await fetchPage(machine, url, signal)) } };
      } catch (error) {
        signal.throwIfAborted();
        result = { case: 'error', value: { url, error: reasonOf(error) } };
      }
      return { case: 'fetchResult', value: create(FetchResultSchema, { result }) };
    },
  };
}

async function fetchPage(machine: Machine, address: string, signal: AbortSignal) {
  // Loaded with the first page: most runs fetch none.
  const { sendRequest } = await import('./http-request.ts');
  let url = parseAddress(address);
  for (let redirects = 0; ; redirects++) {
    const lookup = await leaveFor(machine, url, signal);
    const timeout = AbortSignal.timeout(DEADLINE);
    const answer = await sendRequest({
      url,
      method: 'GET',
      headers: {
        accept: 'text/html,text/plain,application/json,*/*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'tandem/0.1.0',
        connection: 'close',
      },
      signal: AbortSignal.any([signal, timeout]),
      env: machine.env,
      ...(lookup === undefined ? {} : { lookup }),
    }).catch((error: unknown) => {
      throw timeout.aborted ? new Error(`${url.host} did not answer within ${DEADLINE / 1000} s`) : error;
    });
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return await readPage(answer, status);
    answer.destroy();
    if (redirects >= REDIRECTS_CAP) throw new Error(`the address was redirected more than ${REDIRECTS_CAP} times`);
    url = parseAddress(new URL(location, url).href);
  }
}

function parseAddress(address: string): URL {
  if (!URL.canParse(address)) throw new Error('the address is no URL');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`only http and https are fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new Error('an address with a user name or password is not fetched');
  return url;
}

/** What the policy judges of an address, and where it leads. Rejects when it is no address to fetch, or cannot be looked up. */
export async function addressOf(
  address: string,
  env: NodeJS.ProcessEnv,
): Promise<PageAccess & { proxied: boolean; found: { address: string; family: number }[] }> {
  const url = parseAddress(address);
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const host = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const proxied = proxyOf(url, env) !== undefined;
  const found = isIP(name) > 0 ? [{ address: name, family: isIP(name) }] : await lookUp(name, proxied);
  return { url: url.href, host, isPrivate: found.some(one => isPrivateAddress(one.address)), proxied, found };
}

/** Asks for leave, and gives a lookup that finds only the addresses that leave was given for; none where a proxy looks them up. */
async function leaveFor(machine: Machine, url: URL, signal: AbortSignal): Promise<LookupFunction | undefined> {
  const { proxied, found, ...access } = await addressOf(url.href, machine.env);
  const verdict = await machine.permission.fetch({ ...access, signal });
  if (!verdict.allowed) throw new Error(`not fetched: ${verdict.reason}`);
  if (proxied) return undefined;
  return (_hostname, options, callback) => {
    if (options.all === true) return callback(null, found);
    const [first] = found;
    callback(null, first?.address ?? '', first?.family);
  };
}

async function lookUp(name: string, proxied: boolean): Promise<{ address: string; family: number }[]> {
  try {
    return await lookupHost(name, { all: true, order: 'verbatim' });
  } catch (error) {
    // Behind a proxy this machine may know no names at all; then the proxy's own policy holds.
    if (proxied) return [];
    throw error;
  }
}

async function readPage(answer: http.IncomingMessage, statusCode: number) {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of expand(answer) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= PAGE_CAP) break;
    }
  } finally {
    answer.destroy();
  }
  const contentType = answer.headers['content-type'] ?? '';
  const bytes = Buffer.concat(chunks).subarray(0, PAGE_CAP);
  if (!isText(contentType, bytes))
    throw new Error(`the page is ${contentType || 'binary data'} with ${length} bytes, which is no text`);
  const content = decoderFor(contentType).decode(bytes);
  return { content, statusCode, contentType };
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

function expand(answer: http.IncomingMessage): Readable {
  const decoder = DECODERS.get((answer.headers['content-encoding'] ?? '').toLowerCase())?.();
  if (decoder === undefined) return answer;
  answer.on('error', error => decoder.destroy(error));
  return answer.pipe(decoder);
}

function isText(contentType: string, bytes: Uint8Array): boolean {
  if (/^(image|audio|video|font)\/(?!svg)|zip|pdf|octet-stream/i.test(contentType)) return false;
  return !bytes.subarray(0, 8192).includes(0) || /utf-16/i.test(contentType);
}

function decoderFor(contentType: string): TextDecoder {
  const label = /charset="?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder(); // a name that no standard knows
  }
}
