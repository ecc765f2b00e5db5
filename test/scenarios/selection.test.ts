import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from 'node:http';
import { callCompanion } from '../support/companion.ts';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import type { Fields, Peer } from '../support/peer.ts';
import { startProvider } from '../support/provider.ts';

const effort = { id: 'effort', values: ['low', 'medium', 'high'] };
const notices = (peer: Peer) =>
  peer
    .updates('textDelta')
    .filter(({ isServerNotice }) => isServerNotice)
    .map(({ text }) => text);

interface Item {
  id: string;
  aliases?: string[];
  parameters?: { id: string; values: { value: string }[] }[];
  variants?: { params: { id: string; value: string }[] }[];
  [key: string]: unknown;
}
const items = async (url: string) => ((await (await fetch(`${url}/v1/models`)).json()) as { items: Item[] }).items;

/** A house with a thinker that has a max mode, a plain model, and a default. */
async function startChoice() {
  const own = await startProvider({ answers: () => ({ text: 'here' }) });
  const models = [
    { id: 'plain', contextWindow: 32_000, vision: false },
    {
      id: 'thinker',
      name: 'Thinker',
      aliases: ['deep'],
      contextWindow: 100_000,
      maxOutput: 4_000,
      vision: true,
      parameters: [effort, { id: 'speed', values: ['fast'] }],
      maxMode: { contextWindow: 900_000, maxOutput: 16_000 },
    },
  ];
  const scripted = { type: 'openai-compatible', baseUrl: own.baseUrl, apiKey: 'operator-key-1', models };
  const house = await startHouse({ config: { providers: { scripted }, defaultModel: 'scripted/plain' } });
  return { house, own };
}

describe('the model of a run', () => {
  let house: House;
  let own: Awaited<ReturnType<typeof startProvider>>;
  beforeAll(async () => {
    ({ house, own } = await startChoice());
  });
  afterAll(async () => {
    await house.close();
    await own.close();
  });

  /** What a run with these fields asks the provider for. */
  const asked = async (fields: Fields) => {
    const peer = await house.peer().turn('hi', { requestedModel: undefined, ...fields });
    expect(peer.fault).toBeUndefined();
    const { model, reasoning_effort, speed, max_tokens } = own.requests.at(-1)!.body;
    return { model, reasoning_effort, speed, max_tokens, peer };
  };
  const parameters = (...pairs: [string, string][]) => pairs.map(([id, value]) => ({ id, value }));

  it('[§6-model-order] is that of requested_model over model_details over the default', async () => {
    const details = { modelDetails: { modelId: 'plain' } };
    expect(await asked({ ...details, requestedModel: { modelId: 'thinker' } })).toMatchObject({ model: 'thinker' });
    expect(await asked({ modelDetails: { modelId: 'thinker' } })).toMatchObject({ model: 'thinker' });
    expect(await asked({ modelDetails: { displayModelId: 'deep' } })).toMatchObject({ model: 'thinker' });
    expect(await asked({ modelDetails: { modelId: 'thinker' }, requestedModel: {} })).toMatchObject({
      model: 'thinker',
    });
    for (const name of ['', 'default', 'auto']) {
      expect(await asked({ requestedModel: { modelId: name } })).toMatchObject({ model: 'plain' });
    }
  });

  it('[§6-model-order] M02: takes its effort from parameters, a suffix or a variant, and parameters win', async () => {
    const thinker = { model: 'thinker', reasoning_effort: 'high' };
    expect(await asked({ requestedModel: { modelId: 'thinker-high' } })).toMatchObject(thinker);
    expect(
      await asked({ requestedModel: { modelId: 'deep[reasoning=high]', isVariantStringRepresentation: true } }),
    ).toMatchObject(thinker);
    for (const modelId of ['thinker', 'thinker-low', 'scripted/thinker[effort=low]']) {
      const chosen = { modelId, parameters: parameters(['reasoning', 'high'], ['speed', 'fast']) };
      expect(await asked({ requestedModel: chosen })).toMatchObject({ ...thinker, speed: 'fast' });
    }
  });

  it('[§6-max-mode] has its larger window and longest answer in max mode, and only then', async () => {
    const usual = await asked({ requestedModel: { modelId: 'thinker' } });
    const max = await asked({ requestedModel: { modelId: 'thinker', maxMode: true } });
    const shown = await asked({ modelDetails: { modelId: 'thinker', maxMode: true } });
    const plain = await asked({ requestedModel: { modelId: 'plain', maxMode: true } });
    const found = [usual, max, shown, plain].map(({ peer, max_tokens }) => [
      peer.state.tokenDetails?.maxTokens,
      max_tokens,
    ]);
    expect(found).toEqual([
      [100_000, 4_000],
      [900_000, 16_000],
      [900_000, 16_000],
      [32_000, undefined],
    ]);
  });

  it('[product-unknown-parameter] that does not have a parameter says so, and goes on without it', async () => {
    const chosen = {
      modelId: 'thinker',
      parameters: parameters(['context', '1m'], ['effort', 'low'], ['turbo', 'on\nnow']),
    };
    const { peer, ...body } = await asked({ requestedModel: chosen });
    expect(notices(peer)).toEqual([
      'Thinker has no parameter context (1m), turbo (on now), so the run goes on without: it has effort (low, medium, high), speed (fast).',
    ]);
    expect(body).toMatchObject({ model: 'thinker', reasoning_effort: 'low' });
    expect(peer.text).toBe('here');
    const written = JSON.stringify(own.requests.at(-1)!.body.messages);
    expect(written).not.toContain('has no parameter');
    const off = await asked({ requestedModel: { modelId: 'plain[fast=false,thinking=off]' } });
    expect(notices(off.peer)).toEqual([]);
  });

  it('[product-unknown-parameter] refuses a value that it does not have, and names those that it has', async () => {
    const peer = await house
      .peer()
      .turn('hi', { requestedModel: { modelId: 'thinker', parameters: parameters(['effort', 'ultra']) } });
    expect(peer.fault).toMatchObject({ code: 'invalid_argument' });
    expect(peer.fault!.detail).toBe('The model thinker has no effort ultra; it has low, medium, high.');
  });

  it('[product-catalogue-facts] M01: is listed with what it can do, and every id, alias, parameter and variant of the list is accepted', async () => {
    const list = await items(house.server.url);
    expect(
      list.map(({ id, contextWindow, maxOutput, vision, thinking, maxMode }) => ({
        id,
        contextWindow,
        maxOutput,
        vision,
        thinking,
        maxMode,
      })),
    ).toEqual([
      { id: 'plain', contextWindow: 32_000, maxOutput: 8_192, vision: false, thinking: false, maxMode: undefined },
      {
        id: 'thinker',
        contextWindow: 100_000,
        maxOutput: 4_000,
        vision: true,
        thinking: true,
        maxMode: { contextWindow: 900_000, maxOutput: 16_000 },
      },
    ]);
    for (const { id, aliases = [], parameters: listed = [], variants = [] } of list) {
      for (const name of [id, ...aliases]) {
        expect(await asked({ requestedModel: { modelId: name } })).toMatchObject({ model: id });
      }
      const choices = [
        ...listed.flatMap(({ id: parameter, values }) => values.map(({ value }) => [{ id: parameter, value }])),
        ...variants.map(({ params }) => params),
      ];
      for (const choice of choices) {
        const { peer } = await asked({ requestedModel: { modelId: id, parameters: choice } });
        expect(notices(peer)).toEqual([]);
      }
    }
    const { models } = await callCompanion({ url: house.server.url }, 'getUsableModels', {});
    expect(models.map(({ modelId }) => modelId)).toEqual(list.map(({ id }) => id));
    expect(models.map(({ thinkingDetails }) => thinkingDetails !== undefined)).toEqual([false, true]);
  });
});

describe('models that a provider is asked for', () => {
  /** A provider whose list can be taken away and given back. */
  async function startListed(models: string[]) {
    const provider = await startProvider({ answers: () => ({ text: 'here' }), models });
    let state: 'up' | 'down' | 'silent' = 'up';
    let asked = 0;
    const front = createServer((incoming, outgoing) => {
      if (incoming.method === 'GET') asked++;
      if (state === 'silent') return;
      if (state === 'down') {
        outgoing.writeHead(503).end();
        return;
      }
      const target = new URL(incoming.url ?? '/', provider.baseUrl);
      const pieces: Buffer[] = [];
      incoming.on('data', piece => pieces.push(piece as Buffer));
      incoming.on('end', () => {
        void fetch(target, {
          method: incoming.method!,
          headers: { 'content-type': 'application/json' },
          ...(pieces.length > 0 && { body: Buffer.concat(pieces).toString() }),
        }).then(async answer => {
          outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
          outgoing.end(Buffer.from(await answer.arrayBuffer()));
        });
      });
    });
    await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve));
    const { port } = front.address() as { port: number };
    return {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      models,
      get asked() {
        return asked;
      },
      become(next: typeof state) {
        state = next;
      },
      async close() {
        front.closeAllConnections();
        front.close();
        await provider.close();
      },
    };
  }
  const described = { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', models: [{ id: 'described' }] };
  const ids = async (house: House) => (await items(house.server.url)).map(({ id }) => id);

  it('[product-discovery] are those of its list, asked for once and again after ten minutes; one that is new is found when a run wants it', async () => {
    const listed = await startListed(['first']);
    const house = await startHouse({
      standing: true,
      config: {
        providers: { listed: { type: 'openai-compatible', baseUrl: listed.baseUrl } },
        defaultModel: 'listed/first',
      },
    });
    expect(await ids(house)).toEqual(['first']);
    expect(await ids(house)).toEqual(['first']);
    expect(listed.asked).toBe(1);
    listed.models.push('second');
    const early = await house.peer({ model: 'second' }).turn('hi');
    expect(early.fault?.detail).toContain('There is no model "second"');
    house.clock.advance(10 * 60_000);
    const peer = await house.peer({ model: 'second' }).turn('hi');
    expect(peer.text).toBe('here');
    expect(await ids(house)).toEqual(['first', 'second']);
    listed.become('down');
    house.clock.advance(10 * 60_000);
    await ids(house);
    house.clock.advance(10_000);
    expect(await ids(house)).toEqual(['first', 'second']); // what was known stays
    await house.close();
    await listed.close();
  });

  it('[product-discovery] are missing while it is down, without hiding those of others, and there once it is back', async () => {
    const listed = await startListed(['late']);
    listed.become('silent');
    const before = performance.now();
    const house = await startHouse({
      standing: true,
      config: {
        providers: { listed: { type: 'openai-compatible', baseUrl: listed.baseUrl }, described },
        defaultModel: 'described/described',
      },
    });
    expect(performance.now() - before).toBeLessThan(20_000); // two seconds are the deadline
    expect(house.server.notices.join()).toMatch(/listed is left aside until it answers/);
    expect(await ids(house)).toEqual(['described']);
    listed.become('up');
    house.clock.advance(10_000);
    expect(await ids(house)).toEqual(['described', 'late']);
    expect((await house.peer({ model: 'late' }).turn('hi')).text).toBe('here');
    await house.close();
    await listed.close();
  });

  it('[product-discovery] are those of the shipped table for a known provider that does not answer, with windows and prices', async () => {
    const listed = await startListed([]);
    listed.become('down');
    const house = await startHouse({
      config: {
        providers: { claude: { type: 'anthropic', baseUrl: listed.baseUrl, apiKey: 'k' }, described },
        defaultModel: 'described/described',
      },
    });
    expect(house.server.notices.join()).toMatch(
      /claude was asked for its models, but it answered 503; the \d+ models of the shipped table stand in/,
    );
    const found = (await items(house.server.url)).find(({ id }) => id === 'claude-sonnet-4-5');
    expect(found).toMatchObject({
      contextWindow: 200_000,
      vision: true,
      price: { input: 3, output: 15, currency: 'USD' },
    });
    await house.close();
    await listed.close();
  });

  it('[product-discovery] may be named as the default before the provider ever answered', async () => {
    const listed = await startListed(['mine']);
    listed.become('down');
    const config = {
      providers: { listed: { type: 'openai-compatible', baseUrl: listed.baseUrl }, described },
      defaultModel: 'listed/mine',
    };
    const house = await startHouse({ config });
    listed.become('up');
    expect((await house.peer({ model: '' }).turn('hi')).text).toBe('here');
    await house.close();
    await listed.close();
  });
});
