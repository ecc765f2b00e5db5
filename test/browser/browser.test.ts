import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { startProvider } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { prepareServerProcess } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { BrowserPage } from './browser-page.ts';
import { findChromium, startChromium } from './chromium.ts';

import { bundlePage, hostPage } from './page-host.ts';
import type { PageHost } from './page-host.ts';

declare const tandem: BrowserPage;

const chromium = findChromium();

/** A request that the browser sent and the status that came back, as its network stack saw them: a page sees no status of what is refused. */
interface Exchange {
  readonly call: string;
  readonly status: number | undefined;
}

describe.skipIf(chromium === undefined)('a page in Chromium', () => {
  let script: string;
  let browser: Browser;
  let listed: PageHost;
  let stranger: PageHost;
  let provider: Provider;
  let server: ServerProcess;
  /** What the model says to the prompts that begin with these words. */
  const answers: Answer[] = [
    { when: 'Say', events: [{ text: 'first piece' }, { gate: 'second' }, { text: ', second piece' }] },
    { when: 'Read', calls: [{ name: 'Read', args: { path: '/page/notes.txt' } }] },
    { when: 'Read', text: 'It keeps a plum.' },
    { when: 'Wait', events: [{ text: 'still thinking' }, { hang: true }] },
  ];

  beforeAll(async () => {
    script = await bundlePage();
    [browser, listed, stranger] = await Promise.all([startChromium(chromium!), hostPage(script), hostPage(script)]);
    provider = await startProvider({ answers });
    server = await prepareServerProcess(provider.baseUrl, { listen: { allowedOrigins: [listed.origin] } });
    await server.start();
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([listed?.close(), stranger?.close(), provider?.close(), server?.close()]);
  });

  /** A page of this origin, with nothing kept from an earlier one. */
  async function openPage(host: PageHost): Promise<Page> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(host.origin);
    await page.waitForFunction(() => 'tandem' in globalThis);
    return page;
  }

  const begin = (page: Page, prompt: string, baseUrl = server.url) =>
    page.evaluate(options => tandem.begin(options), { baseUrl, prompt });

  /** Records what goes to the server from now on; gives what there was so far. */
  async function record(page: Page): Promise<() => Exchange[]> {
    const session: CDPSession = await page.context().newCDPSession(page);
    const sent = new Map<string, string>();
    const statuses = new Map<string, number>();
    session.on('Network.requestWillBeSent', ({ requestId, request: { method, url } }) => {
      if (url.startsWith(server.url)) sent.set(requestId, `${method} ${new URL(url).pathname}`);
    });
    // the status of an answer that the page may not read is told in the one event or in the other
    session.on('Network.responseReceived', ({ requestId, response }) => statuses.set(requestId, response.status));
    session.on('Network.responseReceivedExtraInfo', event => statuses.set(event.requestId, event.statusCode));
    await session.send('Network.enable');
    return () => [...sent].map(([id, call]) => ({ call, status: statuses.get(id) }));
  }

  it('[product-browser-bundle] is bundled without anything that only Node has', () => {
    expect(script).toContain('BidiAppend');
    expect(script).not.toMatch(
      /(?:from|import|require)\s*\(?\s*["'`](?:node:|@tandem\/|@bufbuild\/)|__vite-browser-external/,
    );
  });

  it('[product-browser-turn] sees the answer piece by piece, and its end', async () => {
    const page = await openPage(listed);
    expect(await page.evaluate(baseUrl => tandem.models(baseUrl), server.url)).toEqual(['test-model']);
    await begin(page, 'Say it');
    await page.waitForFunction(() => tandem.text() === 'first piece');
    provider.open('second'); // the page had the first piece before the model had the second one
    const end = await page.evaluate(() => tandem.end());
    expect(end).toEqual({ outcome: 'ended', text: 'first piece, second piece' });
    expect(await page.evaluate(() => tandem.pieces())).toBeGreaterThan(1);
  });

  it('[product-browser-turn] answers a tool by an executor of the page', async () => {
    const page = await openPage(listed);
    const before = provider.requests.length;
    await begin(page, 'Read the notes');
    const end = await page.evaluate(() => tandem.end());
    expect(end).toEqual({ outcome: 'ended', text: 'It keeps a plum.' });
    expect(await page.evaluate(() => tandem.execs())).toEqual(['requestContextArgs', 'readArgs']);
    expect(await page.evaluate(() => tandem.tools())).toEqual(['read completed']);
    const told = provider.requests[before + 1]!.body.messages.at(-1)!;
    expect([told.role, JSON.stringify(told.content)]).toEqual([
      'tool',
      expect.stringContaining('the page keeps a plum'),
    ]);
  });

  it('[product-browser-turn] cancels a run, and the model is no longer listened to', async () => {
    const page = await openPage(listed);
    await begin(page, 'Wait for it');
    await page.waitForFunction(() => tandem.text() === 'still thinking');
    const asked = provider.requests.at(-1)!;
    await page.evaluate(() => tandem.cancel());
    expect(await page.evaluate(() => tandem.end())).toMatchObject({ outcome: 'cancelled' });
    expect(await asked.closed).toEqual({ early: true });
  });

  it('[product-browser-refused] refuses a page of an origin that is not listed, in its preflight', async () => {
    const page = await openPage(stranger);
    const exchanges = await record(page);
    const before = provider.requests.length;
    await begin(page, 'Say it');
    const { outcome, error } = await page.evaluate(() => tandem.end());
    expect([outcome, error?.code]).toEqual(['failed', 'unavailable']);
    expect(await page.evaluate(() => tandem.execs())).toEqual([]);
    const calls = new Set(exchanges().map(({ call, status }) => `${call} ${status ?? 'never sent'}`));
    expect([...calls].toSorted()).toEqual([
      'OPTIONS /agent.v1.AgentService/RunSSE 403',
      'OPTIONS /aiserver.v1.BidiService/BidiAppend 403',
      'POST /agent.v1.AgentService/RunSSE never sent',
      'POST /aiserver.v1.BidiService/BidiAppend never sent',
    ]);
    expect(provider.requests).toHaveLength(before);
  });

  it('[product-browser-refused] refuses what such a page may send without a preflight', async () => {
    const page = await openPage(stranger);
    const exchanges = await record(page);
    const outcomes = await page.evaluate(async url => {
      const send = (path: string, init: RequestInit) =>
        fetch(url + path, init).then(
          answer => answer.type,
          () => 'refused',
        );
      const append = '/aiserver.v1.BidiService/BidiAppend';
      const body = { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } };
      return [
        await send('/v1/models', {}),
        await send(append, body),
        await send(append, { ...body, mode: 'no-cors' }), // its answer is hidden from the page, so only the server can refuse it
      ];
    }, server.url);
    expect(outcomes).toEqual(['refused', 'refused', 'opaque']);
    expect(exchanges().map(({ call, status }) => `${call} ${status}`)).toEqual([
      'GET /v1/models 403',
      'POST /aiserver.v1.BidiService/BidiAppend 403',
      'POST /aiserver.v1.BidiService/BidiAppend 403',
    ]);
  });

  it('[product-browser-refused] refuses every page when no origin is listed', async () => {
    const closed = await prepareServerProcess(provider.baseUrl);
    await closed.start();
    try {
      const page = await openPage(listed);
      await begin(page, 'Say it', closed.url);
      const { outcome, error } = await page.evaluate(() => tandem.end());
      expect([outcome, error?.code]).toEqual(['failed', 'unavailable']);
    } finally {
      await closed.close();
    }
  });
});
