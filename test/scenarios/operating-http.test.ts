import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Provider } from '../support/provider.ts';
import { startTestServer } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';
import { RUN_SSE, closeConnections, fetchWhole, streamHeaders, transports, unaryHeaders } from '../support/wire.ts';
import type { Transport } from '../support/wire.ts';

const json = (body: Buffer) => JSON.parse(body.toString());
const EXCHANGE = '/auth/exchange_user_api_key';

describe.each(transports)('a server for this machine, over %s', transport => {
  let provider: Provider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider({
      answers: ({ text }) =>
        text.includes('go wrong') ? { status: { code: 400, message: 'no sk-0123456789abcdef' } } : { text: 'done' },
    });
    server = await startTestServer({
      provider: provider.baseUrl,
      config: { listen: { allowedOrigins: ['https://app.example'] } },
    });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
    await provider.close();
  });
  const call = (method: string, path: string, headers: Record<string, string> = {}, body?: Uint8Array) =>
    fetchWhole({ url: server.url, path, method, transport, headers, ...(body ? { body } : {}) });

  it('[product-healthz] says that it is alive and ready, to anyone on this machine', async () => {
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const answer = await call('GET', path);
      expect([answer.status, json(answer.body)]).toEqual([200, { status }]);
    }
  });

  it('[product-models-endpoint] lists the models of the config, the default one first', async () => {
    const { status, headers, body } = await call('GET', '/v1/models', unaryHeaders());
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    const { items } = json(body);
    expect(items.map(({ id, displayName }: { id: string; displayName: string }) => [id, displayName])).toEqual([
      ['test-model', 'Test model'],
      ['blind-model', 'Blind model'],
    ]);
    expect(items[1].aliases).toContain('eyeless');
  });

  it('[product-listed-is-accepted] runs with every id and every alias that it lists (M01)', async () => {
    const { items } = json((await call('GET', '/v1/models', unaryHeaders())).body);
    for (const { id, aliases = [] } of items as { id: string; aliases?: string[] }[]) {
      for (const model of [id, ...aliases]) {
        const peer = await new Peer({ url: server.url, transport, model }).turn('hello');
        expect([model, peer.fault]).toEqual([model, undefined]);
        expect(provider.requests.at(-1)!.body.model).toBe(id);
      }
    }
  });

  it('[product-loopback-rule] takes any bearer, and none, while it has no keys', async () => {
    for (const authorization of ['Bearer anything', '']) {
      const peer = await new Peer({ url: server.url, transport, headers: { authorization } }).turn('hello');
      expect([peer.fault, peer.text]).toEqual([undefined, 'done']);
    }
    expect((await call('GET', '/v1/models')).status).toBe(200);
  });

  it('[product-host-check] refuses pages of an origin that is not listed, and serves those of one that is', async () => {
    for (const path of ['/v1/models', '/healthz', EXCHANGE]) {
      const refused = await call(path === EXCHANGE ? 'POST' : 'GET', path, { origin: 'https://evil.example' });
      expect(refused.status).toBe(403);
      expect(json(refused.body).message).toContain('listen.allowedOrigins');
      expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    }
    const listed = await call('GET', '/v1/models', { origin: 'https://app.example' });
    expect([listed.status, listed.headers['access-control-allow-origin']]).toEqual([200, 'https://app.example']);
    const asked = await call('OPTIONS', RUN_SSE, {
      origin: 'https://app.example',
      'access-control-request-headers': 'content-type',
    });
    expect([asked.status, asked.headers['access-control-allow-headers']]).toEqual([204, 'content-type']);
  });

  it('[product-host-check, R6-always-200] tells a page that may not call RunSSE so in an end frame, without a stream', async () => {
    const before = server.load.streams;
    const { status, body } = await call(
      'POST',
      RUN_SSE,
      streamHeaders({ origin: 'https://evil.example' }),
      Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x61]),
    );
    expect(status).toBe(200);
    expect(JSON.parse(body.toString('utf8', 5)).error.code).toBe('permission_denied');
    expect(server.load.streams).toBe(before);
  });

  it('tells whoever opens the address what it is, and 404 where there is nothing to get', async () => {
    const root = await fetchWhole({ url: server.url, path: '/', method: 'GET', transport });
    expect([root.status, json(root.body)]).toEqual([
      200,
      expect.objectContaining({ name: 'tandem', health: '/healthz' }),
    ]);
    const nothing = await fetchWhole({ url: server.url, path: '/favicon.ico', method: 'GET', transport });
    expect([nothing.status, json(nothing.body).code]).toEqual([404, 'unimplemented']);
  });

  it('[product-unimplemented] answers the housekeeping of stock clients with an empty success at once (F19)', async () => {
    const paths = [
      'DashboardService/GetUserPrivacyMode',
      'DashboardService/GetTeamAdminSettingsOrEmptyIfNotInTeam',
      'DashboardService/GetTeamReposOrEmptyIfNotInTeam',
      'ServerConfigService/GetServerConfig',
      'AnalyticsService/BootstrapStatsig',
      'AnalyticsService/TrackEvents',
    ];
    for (const path of paths) {
      const proto = await call('POST', `/aiserver.v1.${path}`, unaryHeaders());
      expect([path, proto.status, proto.headers['content-type'], proto.body.length]).toEqual([
        path,
        200,
        'application/proto',
        0,
      ]);
      const text = await call(
        'POST',
        `/aiserver.v1.${path}`,
        unaryHeaders({ 'content-type': 'application/json' }),
        Buffer.from('{}'),
      );
      expect([path, text.status, json(text.body)]).toEqual([path, 200, {}]);
    }
  });

  it('tells whoever opens the address what it is, and 404 where there is nothing to get', async () => {
    const root = await fetchWhole({ url: server.url, path: '/', method: 'GET', transport });
    expect([root.status, json(root.body)]).toEqual([
      200,
      expect.objectContaining({ name: 'tandem', health: '/healthz' }),
    ]);
    const nothing = await fetchWhole({ url: server.url, path: '/favicon.ico', method: 'GET', transport });
    expect([nothing.status, json(nothing.body).code]).toEqual([404, 'unimplemented']);
  });

  it('[product-unimplemented] answers every other call with unimplemented, in the form the call can read', async () => {
    for (const path of [
      '/agent.v1.AgentService/NoSuchMethod',
      '/aiserver.v1.OtherService/Anything',
      '/constructor',
      '/__proto__',
      '/%00%ff',
    ]) {
      const unary = await call('POST', path, unaryHeaders());
      expect([path, unary.status, json(unary.body).code]).toEqual([path, 501, 'unimplemented']);
      const stream = await call('POST', path, streamHeaders());
      expect([path, stream.status, JSON.parse(stream.body.toString('utf8', 5)).error.code]).toEqual([
        path,
        200,
        'unimplemented',
      ]);
    }
  });

  it('refuses another method with the one that a path takes', async () => {
    const answers = [
      await call('GET', RUN_SSE),
      await call('PUT', EXCHANGE),
      await call('POST', '/v1/models', unaryHeaders()),
    ];
    expect(answers.map(({ status, headers }) => [status, headers['allow']])).toEqual([
      [405, 'POST'],
      [405, 'POST'],
      [405, 'GET'],
    ]);
  });

  it('[product-log-line] writes one line for each run, with figures and without a word or a secret of anybody', async () => {
    const secret = 'sk-bearer-do-not-leak-0123456789';
    const from = server.log.length;
    const headers = {
      authorization: `Bearer ${secret}`,
      'x-cursor-client-type': 'test',
      'x-cursor-client-version': '1.2',
    };
    const good = await new Peer({ url: server.url, transport, headers }).turn('a private question');
    const bad = await new Peer({ url: server.url, transport, headers }).turn('let it go wrong');
    expect(bad.fault).toBeDefined();
    const lines = await eventually(() => {
      const found = server.log.slice(from).filter(({ text }) => text === 'run');
      return found.length >= 2 && found;
    }, 'two lines');
    expect(lines.map(({ level, fields }) => [level, fields['requestId'], fields['outcome'] === 'ended'])).toEqual([
      ['info', good.requestId, true],
      ['warn', bad.requestId, false],
    ]);
    expect(lines[0]!.fields).toMatchObject({
      owner: 'local',
      runId: good.runId,
      conversationId: good.conversationId,
      client: 'test 1.2',
      model: 'scripted/test-model',
      modelCalls: 1,
      toolCalls: 0,
      retries: 0,
      durationMs: expect.any(Number),
      firstOutputMs: expect.any(Number),
      usage: { outputTokens: 10 },
    });
    const everything = JSON.stringify(server.log);
    for (const word of [
      secret,
      'provider-key-do-not-leak',
      'a private question',
      'let it go wrong',
      'sk-0123456789abcdef',
    ]) {
      expect(everything.includes(word), `the log holds ${JSON.stringify(word)}`).toBe(false);
    }
  });
});

describe('a name that is not the name of this server', () => {
  it('[product-host-check] is refused with the way to allow it, and served once it is listed', async () => {
    const server = await startTestServer({ config: { listen: { allowedHosts: ['agent.test'] } } });
    const { port } = new URL(server.url);
    const ask = (host: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const request = http.get(
          { host: '127.0.0.1', port, path: '/healthz', headers: { host }, agent: false },
          response => {
            let body = '';
            response.on('data', chunk => (body += chunk));
            response.on('end', () => resolve({ status: response.statusCode!, body }));
          },
        );
        request.on('error', reject);
      });
    const refused = await ask('evil.example');
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body).message).toContain('listen.allowedHosts');
    for (const host of ['agent.test', `agent.test:${port}`, 'localhost', `127.0.0.1:${port}`])
      expect((await ask(host)).status).toBe(200);
    await server.close();
  });
});

describe.each(transports)('a server with keys, over %s', transport => {
  const KEY = 'the-key-of-the-team-0123456789';
  let server: TestServer;
  let clock: ManualClock;
  beforeAll(async () => {
    clock = new ManualClock();
    const sha256 = createHash('sha256').update(KEY).digest('hex');
    server = await startTestServer({ clock, config: { auth: { keys: [{ name: 'team', sha256 }] } } });
  });
  afterAll(async () => {
    closeConnections();
    await server.close();
  });
  const exchange = (authorization?: string) =>
    fetchWhole({
      url: server.url,
      path: EXCHANGE,
      transport,
      headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
      body: Buffer.from('{}'),
    });
  const models = (bearer: string) =>
    fetchWhole({
      url: server.url,
      path: '/v1/models',
      method: 'GET',
      transport,
      headers: { authorization: `Bearer ${bearer}` },
    });

  it('[product-key-exchange] gives a token for a good key; token and key are both bearers', async () => {
    const { status, headers, body } = await exchange(`Bearer ${KEY}`);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    const { accessToken } = json(body);
    expect(Object.keys(json(body))).toEqual(['accessToken']);
    expect(accessToken).not.toContain(KEY);
    for (const bearer of [KEY, accessToken]) {
      expect((await models(bearer)).status).toBe(200);
      const peer = await new Peer({
        url: server.url,
        transport,
        model: '',
        headers: { authorization: `Bearer ${bearer}` },
      }).turn('look around');
      expect([peer.fault, peer.faults]).toEqual([undefined, []]);
    }
  });

  it('[product-key-exchange] answers a bad key, and none, with a 401 in JSON that does not repeat it', async () => {
    for (const authorization of ['Bearer wrong-key-0123456789', `Bearer ${KEY}x`, 'Basic abc', undefined]) {
      const { status, headers, body } = await exchange(authorization);
      expect([status, headers['content-type']]).toEqual([401, 'application/json']);
      expect(json(body).code).toBe('unauthenticated');
      expect(body.toString()).not.toContain('0123456789');
    }
    expect((await models('wrong')).status).toBe(401);
  });

  it('takes a token for an hour and not for longer, nor one that was changed', async () => {
    const { accessToken } = json((await exchange(`Bearer ${KEY}`)).body);
    expect((await models(`${accessToken.slice(0, -2)}AA`)).status).toBe(401);
    await clock.pass(3_599_000, 60_000);
    expect((await models(accessToken)).status).toBe(200);
    await clock.pass(2_000);
    expect((await models(accessToken)).status).toBe(401);
  });

  it('keeps /healthz open, since whoever watches a server has no key', async () => {
    expect((await fetchWhole({ url: server.url, path: '/healthz', method: 'GET', transport })).status).toBe(200);
  });

  it('names the owner of a run in its line, and never the key', async () => {
    expect(server.log.some(({ text, fields }) => text === 'run' && fields['owner'] === 'team')).toBe(true);
    expect(JSON.stringify(server.log).includes(KEY)).toBe(false);
  });
});

describe('sockets that are reset in the middle of a run', () => {
  /** A RunSSE on a socket of its own, so that the test can tear it down below HTTP. */
  function rawStream(url: string, requestId: string, transport: Transport): net.Socket {
    const { hostname, port } = new URL(url);
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => {});
    if (transport === 'h2c') {
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])); // SETTINGS, empty
      return socket;
    }
    const id = Buffer.from(requestId);
    const body = Buffer.concat([Buffer.from([0, 0, 0, 0, id.length + 2, 0x0a, id.length]), id]);
    const head = [
      `POST ${RUN_SSE} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      'content-type: application/connect+proto',
      `content-length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(body);
    return socket;
  }

  it('[T22-reset-mid-run] cost their runs and never the server', async () => {
    const clock = new ManualClock();
    const provider = await startProvider({
      answers: ({ text }) =>
        text.includes('[[hold]]') ? { events: [{ text: 'word '.repeat(20_000) }, { hang: true }] } : { text: 'alive' },
    });
    const server = await startTestServer({ provider: provider.baseUrl, clock });
    for (let round = 0; round < 30; round++) {
      const peer = new Peer({ url: server.url, requestId: randomUUID() });
      const socket = rawStream(server.url, peer.requestId, round % 3 === 2 ? 'h2c' : 'h1');
      await new Promise(resolve => socket.once('data', resolve));
      await peer.run('', {
        action: {
          action: { case: 'userMessageAction', value: { userMessage: { text: '[[hold]]' }, requestContext: {} } },
        },
      });
      socket.resetAndDestroy();
    }
    await clock.pass(120_000, 1_000);
    await eventually(() => server.load.runs === 0 && server.load.streams === 0, 'end of the runs');
    const after = await new Peer({ url: server.url }).turn('still there?');
    expect([after.fault, after.text]).toEqual([undefined, 'alive']);
    expect(server.log.filter(({ level }) => level === 'error')).toEqual([]);
    closeConnections();
    await server.close();
    await provider.close();
  });
});
