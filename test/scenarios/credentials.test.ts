import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Fields, Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';
import type { Answer, Provider } from '../support/provider.ts';
import { startWireProvider } from '../support/provider-wire.ts';
import { findSecrets, tracesOf } from '../support/secret-search.ts';

const KEY = 'user-key-9f8e7d6c5b4a';
const OPERATOR_KEY = 'provider-key-do-not-leak';
const apiKey = (baseUrl?: string, key = KEY) => ({ case: 'apiKeyCredentials', value: { apiKey: key, baseUrl } });
const requested = (credentials: unknown, modelId = 'test-model'): Fields => ({
  requestedModel: { modelId, credentials },
});

const [ACCESS_KEY, SECRET_KEY, TOKEN] = [
  'AKIAUSERACCESS000001',
  'user/secret+access/key0123456789',
  'user-session-token//==',
];
const BEDROCK = {
  case: 'bedrockCredentials',
  value: { accessKey: ACCESS_KEY, secretKey: SECRET_KEY, region: 'eu-central-1', sessionToken: TOKEN },
} as const;
/** What the fakes of the wires say under the name `text`. */
const TEXT = 'Hello, wörld 👋🏽.';

/** A house that offers a model of Bedrock behind a gateway of the operator. */
async function startBedrock(answers: Parameters<typeof startWireProvider>[1]) {
  const bedrock = await startWireProvider('converse', answers);
  const provider = {
    type: 'bedrock',
    region: 'us-east-1',
    baseUrl: bedrock.origin,
    accessKeyId: 'AKIAOPERATOR00000001',
    secretAccessKey: 'operator-secret-access-key',
    models: [{ id: 'claude' }],
  };
  const house = await startHouse({ config: { providers: { aws: provider }, defaultModel: 'aws/claude' } });
  return { bedrock, house };
}

/** A house whose clients may bring keys for this machine, and a provider that is theirs. */
async function startOwn(credentials: unknown = { hosts: ['127.0.0.1'] }) {
  const house = await startHouse({ config: { credentials } });
  const own = await startProvider({ answers: () => ({ text: 'from my own' }) });
  return { house, own };
}

describe('a run with a key of its own', () => {
  let house: House;
  let own: Provider;
  beforeAll(async () => {
    ({ house, own } = await startOwn());
  });
  afterAll(async () => {
    await house.close();
    await own.close();
  });

  it('[§6-own-key] is answered by the address that it brings, with its key and nothing of the operator', async () => {
    house.say();
    const peer = await house.peer().turn('hi', requested(apiKey(own.baseUrl)));
    expect([peer.fault, peer.text]).toEqual([undefined, 'from my own']);
    const request = own.requests.at(-1)!;
    expect(request.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request.body.model).toBe('test-model');
    expect(JSON.stringify(request.headers)).not.toContain(OPERATOR_KEY);
    expect(house.requests).toHaveLength(0);
  });

  it('[§6-own-key] is answered by the provider of its model when it brings no address', async () => {
    house.say({ text: 'on my bill' });
    const peer = await house.peer().turn('hi', requested(apiKey()));
    expect(peer.text).toBe('on my bill');
    expect(house.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    house.say({ text: 'on the house' });
    await house.peer().turn('hi');
    expect(house.requests[0]!.headers.authorization).toBe(`Bearer ${OPERATOR_KEY}`);
  });

  it('[§6-own-key] takes nothing of the operator with it to its address, and no model of his in its place when that fails', async () => {
    const fails = await startProvider({ answers: () => ({ status: { code: 401 } }) });
    const operator = await startProvider({ answers: () => ({ text: 'on the house' }) });
    const scripted = {
      type: 'openai-compatible',
      baseUrl: operator.baseUrl,
      apiKey: OPERATOR_KEY,
      headers: { 'x-gateway-token': 'operator-header-1234', authorization: 'Basic operator-header-1234' },
      models: [{ id: 'test-model', fallback: ['spare'] }, { id: 'spare' }],
    };
    const config = { providers: { scripted }, credentials: { hosts: ['127.0.0.1'] } };
    const other = await startHouse({ config: { ...config, defaultModel: 'scripted/spare' } });
    const peer = await other.peer().turn('hi', requested(apiKey(fails.baseUrl)));
    expect(peer.fault?.title).toBe('Provider refused the key');
    expect(operator.requests).toHaveLength(0);
    expect(JSON.stringify(fails.requests[0]!.headers)).not.toContain('operator');
    // at the operator's own address too: any header of his may be what pays
    const here = await other.peer().turn('hi', requested(apiKey()));
    expect(here.text).toBe('on the house');
    expect(JSON.stringify(operator.requests[0]!.headers)).not.toContain('operator');
    expect(operator.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    await Promise.all([other.close(), fails.close(), operator.close()]);
  });

  it('[§6-own-key] may name a model that only its address knows, with parameters of a variant', async () => {
    const peer = await house.peer().turn('hi', requested(apiKey(`${own.baseUrl}/`), 'my/tuned[effort=high]'));
    expect(peer.text).toBe('from my own');
    expect(own.requests.at(-1)!.body).toMatchObject({ model: 'my/tuned', reasoning_effort: 'high' });
  });

  it('[§6-own-key] is told what to give when nobody knows where its model lives', async () => {
    const peer = await house.peer().turn('hi', requested(apiKey(), 'my-tuned'));
    expect(peer.fault).toMatchObject({ code: 'invalid_argument' });
    expect(peer.fault!.detail).toContain('Give the address of its provider in base_url');
  });

  it('[§6-own-key] speaks what its address speaks, where the address says it', async () => {
    const claude = await startWireProvider('messages', ['text']);
    await house.peer().turn('hi', requested(apiKey(`${claude.origin}/anthropic`), 'claude-opus-4-5'));
    expect(claude.requests[0]!.path).toBe('/anthropic/v1/messages');
    expect(claude.requests[0]!.headers['x-api-key']).toBe(KEY);
    await claude.close();
  });

  it('[§6-own-key-azure] is answered by its deployment, with its key in api-key', async () => {
    const azure = await startWireProvider('responses', ['text']);
    const value = { apiKey: KEY, baseUrl: azure.origin, deployment: 'my-deployment' };
    const peer = await house.peer().turn('hi', requested({ case: 'azureCredentials', value }));
    expect([peer.fault, peer.text]).toEqual([undefined, TEXT]);
    const { headers, body, path } = azure.requests[0]!;
    expect([path, body.model]).toEqual(['/openai/v1/responses', 'my-deployment']);
    expect([headers['api-key'], headers.authorization]).toEqual([KEY, undefined]);
    await azure.close();
  });

  it('[§6-own-key-bedrock] signs with its own keys for its own region, its session token beside', async () => {
    const { bedrock, house: operator } = await startBedrock([
      'text',
      { status: 403, body: { message: `The token ${TOKEN} of ${ACCESS_KEY} is invalid` } },
    ]);
    const peer = await operator.peer().turn('hi', requested(BEDROCK, 'claude'));
    expect([peer.fault, peer.text]).toEqual([undefined, TEXT]);
    const { headers } = bedrock.requests[0]!;
    expect(headers.authorization).toContain(`Credential=${ACCESS_KEY}/`);
    expect(headers.authorization).toContain('/eu-central-1/bedrock/aws4_request');
    expect(headers['x-amz-security-token']).toBe(TOKEN);
    const refused = await operator.peer().turn('hi', requested(BEDROCK, 'claude'));
    expect(refused.fault?.code).toBe('failed_precondition');
    const secrets = { access: ACCESS_KEY, secret: SECRET_KEY, token: TOKEN };
    expect(findSecrets(tracesOf(operator.server, [peer, refused]), secrets)).toEqual([]);
    expect(bedrock.requests.map(request => JSON.stringify(request)).join()).not.toContain(SECRET_KEY);
    await operator.close();
    await bedrock.close();
  });

  it('[§6-own-key-bedrock] is refused with a region that is none', async () => {
    const value = { ...BEDROCK.value, region: 'evil.example.com/' };
    const peer = await house.peer().turn('hi', requested({ case: 'bedrockCredentials', value }, 'claude'));
    expect(peer.fault).toMatchObject({ code: 'invalid_argument' });
    expect(peer.fault!.detail).toContain('bedrock_credentials.region is no region');
  });

  it('[§6-own-key-child-and-prewarm] brings it in model_details when it is a child run', async () => {
    const peer = await house.peer().turn('hi', {
      requestedModel: undefined,
      subagentTypeName: 'explore',
      conversationGroupId: 'parent',
      modelDetails: { modelId: 'test-model', credentials: apiKey(own.baseUrl, 'child-key-11112222') },
    });
    expect(peer.text).toBe('from my own');
    expect(own.requests.at(-1)!.headers.authorization).toBe('Bearer child-key-11112222');
  });

  it('[§6-own-key-child-and-prewarm] of a prewarm calls nobody, and the run after it uses its own', async () => {
    const [before] = [own.requests.length];
    house.say({ text: 'on the house' });
    const peer = house.peer();
    await peer.open();
    await peer.send({
      case: 'prewarmRequest',
      value: requested(apiKey(own.baseUrl, 'prewarm-key-33334444')),
    } as never);
    await peer.run('hi');
    await peer.finish();
    expect(peer.text).toBe('on the house');
    expect(own.requests).toHaveLength(before!);
    expect(findSecrets(tracesOf(house.server, [peer]), { prewarm: 'prewarm-key-33334444' })).toEqual([]);
  });
});

describe('what is left of a key', () => {
  it('[§6-own-key-traceless] is nothing, whatever the provider repeats of it in its errors', async () => {
    const secrets = {
      key: 'plain"key/with+odd=chars&9f8e7d6c',
      path: 'path-secret-0123456789abcdef',
      second: 'bearer-echo-55556666',
      azure: 'azure-key-77778888',
      child: 'child-key-11112222',
      gateway: 'gateway-bearer-99990000',
      subagent: 'subagent-key-aaaabbbb',
      operator: OPERATOR_KEY,
    };
    const echo = (key: string) => ({
      error: {
        message: `Incorrect API key provided: ${key}. Also ${encodeURIComponent(key)} and ${Buffer.from(key).toString('base64')}`,
        type: 'invalid_request_error',
        code: key,
        param: { authorization: `Bearer ${key}` },
      },
    });
    const own = await startProvider({
      answers: ({ headers, number }): Answer => {
        const key = String(headers['api-key'] ?? headers.authorization?.replace('Bearer ', ''));
        if (number % 4 === 0) return { status: { code: 401, body: echo(key), headers: { 'x-request-id': key } } };
        if (number % 4 === 1) return { status: { code: 429, body: echo(key), headers: { 'retry-after': '3600' } } };
        if (number % 4 === 2) return { events: [{ text: 'half' }, { error: echo(key).error }] };
        return { status: { code: 400, body: `<html>${key} ${JSON.stringify(echo(key))}</html>` } };
      },
    });
    const folder = mkdtempSync(join(tmpdir(), 'tandem-traces-'));
    const house = await startHouse({ folder, config: { credentials: { hosts: ['127.0.0.1'] } } });
    const peers: Peer[] = [];
    const tellings: string[] = [];
    const withPath = `${own.baseUrl.replace('/v1', '')}/${secrets.path}/v1`;
    const azure = { apiKey: secrets.azure, baseUrl: withPath, deployment: 'd' };
    const requests: Fields[] = [
      requested(apiKey(withPath, secrets.key)),
      requested(apiKey(withPath, secrets.second)),
      requested({ case: 'azureCredentials', value: azure }),
      {
        requestedModel: undefined,
        modelDetails: { modelId: 'test-model', credentials: apiKey(withPath, secrets.child) },
      },
      {
        ...requested(apiKey(`http://127.0.0.1:1/${secrets.path}/v1`, secrets.key)), // nobody is there
        clientLlmGatewayCredential: { bearerToken: secrets.gateway },
        selectedSubagentModels: [{ modelId: 'x', credentials: apiKey(withPath, secrets.subagent) }],
        subagentModelOverrides: [
          {
            subagentType: 'explore',
            selection: { case: 'model', value: { modelId: 'x', credentials: apiKey(withPath, secrets.subagent) } },
          },
        ],
      },
      requested(apiKey(`http://user:${secrets.second}@169.254.169.254/`, secrets.key)),
      requested(apiKey(`${secrets.path} is no address`, secrets.key)),
      requested(apiKey(`http://127.0.0.1:1/v1?key=${secrets.path}`, secrets.key)),
    ];
    for (const request of [...requests, ...requests.slice(0, 4)]) {
      const peer = await house.peer().turn('hi', request);
      expect(peer.fault, peer.describe()).toBeDefined();
      tellings.push(peer.fault!.detail);
      peers.push(peer);
    }
    house.say({ text: 'fine' });
    peers.push(await house.peer().turn('hi'));
    for (const path of ['/v1/models', '/healthz']) tellings.push(await (await fetch(house.server.url + path)).text());
    await house.close();
    expect(own.requests.length).toBeGreaterThanOrEqual(8);
    expect(own.requests.map(request => request.headers.authorization)).toContain(`Bearer ${secrets.key}`);
    expect(findSecrets(tracesOf(house.server, peers, { tellings: tellings.join('\n') }), secrets)).toEqual([]);
    await own.close();
    rmSync(folder, { recursive: true });
  });
});

/** A provider that sends everyone on to another address. */
async function startRedirect(status: number, location: string) {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    seen.push(String(incoming.headers.authorization));
    incoming.resume();
    outgoing.writeHead(status, { location }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = (server.address() as AddressInfo).port;
  return { seen, baseUrl: `http://127.0.0.1:${port}/v1`, close: () => void server.close() };
}

describe('where a key of a run may go', () => {
  const refusal = async (house: House, baseUrl: string) =>
    (await house.peer().turn('hi', requested(apiKey(baseUrl)))).fault;

  it('[T19-address-policy] T19: is no address of this machine or its networks, however it is written, unless the config names it', async () => {
    const { house, own } = await startOwn('allow');
    const port = new URL(own.baseUrl).port;
    const addresses = [
      own.baseUrl,
      `http://127.1:${port}/v1`,
      `http://2130706433:${port}/v1`,
      `http://0x7f000001:${port}/v1`,
      `http://0.0.0.0:${port}/v1`,
      `http://[::1]:${port}/v1`,
      `http://[::ffff:127.0.0.1]:${port}/v1`,
      `http://api.example.com/v1`, // not of this network, but the key would be read on the way
      `https://10.0.0.1/v1`,
      `https://192.168.1.1/v1`,
      `https://169.254.169.254/latest`,
      `https://[fd00:ec2::254]/latest`,
      `https://168.63.129.16/v1`,
      `https://localhost:${port}/v1`,
    ];
    for (const address of addresses) {
      const fault = await refusal(house, address);
      expect([address, fault?.code, fault?.retryable]).toEqual([address, 'permission_denied', false]);
      expect(fault!.detail).toContain('credentials.hosts');
    }
    expect(own.requests).toHaveLength(0);
    await house.close();
    await own.close();
  });

  it('[T19-address-policy] T19: is judged by what a name resolves to, and the connection goes to what was judged', async () => {
    const own = await startProvider({ answers: () => ({ text: 'from my own' }) });
    const port = new URL(own.baseUrl).port;
    let lookups = 0;
    const answers: Record<string, string[]> = {
      'inner.example': ['10.1.2.3'],
      'mixed.example': ['93.184.216.34', '127.0.0.1'],
      'meta.example': ['169.254.169.254'],
      'named.example': ['127.0.0.1'],
      'low.star.example': ['127.0.0.1'],
    };
    const house = await startHouse({
      config: {
        credentials: {
          hosts: ['named.example', 'meta.example', 'inner.example:9', 'mixed.example:9', '*.star.example'],
        },
      },
      lookup: (host, done) => {
        lookups++;
        done(
          null,
          (answers[host] ?? []).map(address => ({ address, family: 4 })),
        );
      },
    });
    const told = async (host: string) =>
      (await refusal(house, `http${host === 'low.star.example' ? 's' : ''}://${host}:${port}/v1`))?.detail ??
      'answered';
    expect(await told('named.example')).toBe('answered');
    expect(lookups).toBe(1); // one answer, and the connection went to it: a second one could say something else
    expect(await told('meta.example')).toContain('meta.example is at an address of this machine');
    expect(await told('low.star.example')).toContain('is at an address of this machine');
    expect(await told('inner.example')).toContain('none of these');
    expect(await told('other.example')).toContain('none of these');
    expect(own.requests).toHaveLength(1);
    await house.close();
    await own.close();
  });

  it('[T19-address-policy] T19: is not the address that another one redirects to', async () => {
    const { house, own } = await startOwn({ hosts: ['127.0.0.1', 'localhost'] });
    for (const [status, location] of [
      [307, own.baseUrl.replace('127.0.0.1', 'localhost')],
      [308, 'http://169.254.169.254/latest/meta-data'],
      [302, `${own.baseUrl}/chat/completions`],
      [307, 'http://['],
    ] as const) {
      const redirect = await startRedirect(status, location);
      const fault = await refusal(house, redirect.baseUrl);
      expect([location, fault?.code]).toEqual([location, 'permission_denied']);
      expect(redirect.seen).toEqual([`Bearer ${KEY}`]);
      redirect.close();
    }
    expect(own.requests).toHaveLength(0);
    const moved = await startRedirect(308, `${own.baseUrl}/chat/completions`);
    expect(await refusal(house, moved.baseUrl)).toBeUndefined(); // the same host by another port
    expect(own.requests).toHaveLength(1);
    moved.close();
    await house.close();
    await own.close();
  });

  it('[product-credentials-policy] is nowhere when the config forbids it, and where the config says when it names hosts', async () => {
    const { house, own } = await startOwn('forbid');
    house.say({ text: 'on the house' });
    for (const address of [own.baseUrl, undefined]) {
      const peer = await house.peer().turn('hi', requested(apiKey(address)));
      expect(peer.fault).toMatchObject({ code: 'permission_denied', retryable: false });
      expect(peer.fault!.detail).toContain('credentials: forbid');
    }
    expect((await house.peer().turn('hi', requested({ case: 'apiKeyCredentials', value: {} }))).text).toBe(
      'on the house',
    );
    expect(own.requests).toHaveLength(0);
    await house.close();
    const named = await startHouse({ config: { credentials: { hosts: [new URL(own.baseUrl).host] } } });
    expect((await named.peer().turn('hi', requested(apiKey(own.baseUrl)))).text).toBe('from my own');
    const fault = await refusal(named, 'https://api.other.example/v1');
    expect(fault!.detail).toContain('api.other.example is none of these');
    await named.close();
    await own.close();
  });

  it.each([
    ['perhaps', 'expected allow, forbid, or an object with the key hosts'],
    [{ hosts: [] }, 'credentials.hosts: expected a list of 1 or more'],
    [{ hosts: ['https://api.example.com/v1'] }, 'credentials.hosts[0]: expected a host such as'],
  ])('[product-credentials-policy] is refused in a config that says %j', async (credentials, says) => {
    await expect(startHouse({ config: { credentials } })).rejects.toThrow(says);
  });
});
