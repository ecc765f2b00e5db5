import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callCompanion } from '../support/companion.ts';
import { startHouse } from '../support/house.ts';
import type { House, HouseOptions } from '../support/house.ts';
import { startProvider } from '../support/provider.ts';

const PRICE = {
  input: 10,
  output: 100,
  cacheRead: 1,
  tiers: [
    { above: 50_000, input: 30, output: 300 },
    { above: 5_000, input: 20, output: 200 },
  ],
};
const usage = (prompt: number, completion: number, cached = 0) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  prompt_tokens_details: { cached_tokens: cached },
});
const key = (name: string, budget?: unknown) => ({
  name,
  sha256: createHash('sha256').update(`secret-of-${name}`).digest('hex'),
  ...(budget ? { budget } : {}),
});
const as = (name: string) => ({ headers: { authorization: `Bearer secret-of-${name}` } });

/** A house whose test-model has a price and whose blind-model has none. */
async function startPriced(config: Record<string, unknown> = {}, more: HouseOptions = {}): Promise<House> {
  const provider = await startProvider({ answers: request => answerOf(request.number) });
  let answers: Parameters<House['say']> = [];
  let mark = 0;
  const answerOf = (number: number) => {
    const answer = answers[number - mark];
    if (!answer) throw new Error(`no answer is left for request ${number - mark}`);
    return answer;
  };
  const models = [
    { id: 'test-model', contextWindow: 200_000, price: PRICE },
    { id: 'blind-model', contextWindow: 40_000 },
  ];
  const scripted = { type: 'openai-compatible', baseUrl: provider.baseUrl, apiKey: 'operator-key-1234', models };
  const house = await startHouse({
    ...more,
    config: { providers: { scripted }, defaultModel: 'scripted/test-model', ...config },
  });
  return {
    ...house,
    provider,
    say(...next) {
      answers = next;
      mark = provider.requests.length;
    },
    get requests() {
      return provider.requests.slice(mark);
    },
    async close() {
      await house.close();
      await provider.close();
    },
  };
}

interface Row {
  name: string;
  calls: number;
  turns: number;
  cost: Record<string, number>;
  unpricedCalls: number;
  [key: string]: unknown;
}

async function report(house: House, query = '', headers: Record<string, string> = {}): Promise<Row[]> {
  const response = await fetch(`${house.server.url}/v1/usage${query}`, { headers });
  expect([response.status, query]).toEqual([200, query]);
  return ((await response.json()) as { rows: Row[] }).rows;
}

describe('what model calls use and cost', () => {
  const monday = Date.UTC(2027, 0, 4, 12);
  let house: House;
  beforeAll(async () => {
    house = await startPriced({ auth: { keys: [key('anna'), key('ben')] } }, { standing: true });
    house.clock.advance(monday - house.clock.now());
  });
  afterAll(() => house.close());

  it('[R58-usage-in-ledger] is kept for each call, with the price of its tier, and told by turn, conversation, model and day', async () => {
    house.say(
      { calls: [{ name: 'Read', args: { path: '/repo/a.txt' } }], usage: usage(1_000, 10, 400) },
      { text: 'done', usage: usage(6_000, 5) },
    );
    const peer = await house.peer(as('anna')).turn('hi');
    expect(peer.text).toBe('done');
    const first = (600 * 10 + 400 * 1 + 10 * 100) / 1e6;
    const second = (6_000 * 20 + 5 * 200) / 1e6;
    const whole = { calls: 2, turns: 1, inputTokens: 6_600, outputTokens: 15, cacheReadTokens: 400, unpricedCalls: 0 };
    for (const [by, name] of [
      ['turn', peer.runId],
      ['conversation', peer.conversationId],
      ['model', 'scripted/test-model'],
      ['day', '2027-01-04'],
    ]) {
      const rows = await report(house, `?by=${by}`, as('anna').headers);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ name, ...whole });
      expect(rows[0]!.cost['USD']).toBeCloseTo(first + second, 10);
    }
    const line = house.server.log.find(({ text, fields }) => text === 'run' && fields['runId'] === peer.runId);
    expect((line!.fields['cost'] as { USD: number }).USD).toBeCloseTo(first + second, 10);
  });

  it('[R58-usage-in-ledger] is told to its owner alone, and to nobody without a key', async () => {
    expect(await report(house, '', as('ben').headers)).toEqual([]);
    expect((await fetch(`${house.server.url}/v1/usage`)).status).toBe(401);
  });

  it('[R58-usage-in-ledger] counts calls without a known price as such, and asks for days that are not over', async () => {
    house.clock.advance(24 * 3_600_000);
    house.say({ text: 'free', usage: usage(10, 1) });
    await house.peer({ ...as('anna'), model: 'blind-model' }).turn('hi');
    const days = await report(house, '?by=day', as('anna').headers);
    expect(days.map(({ name, unpricedCalls }) => [name, unpricedCalls])).toEqual([
      ['2027-01-05', 1],
      ['2027-01-04', 0],
    ]);
    expect(days[0]!.cost).toEqual({});
    expect(await report(house, '?since=2027-01-05', as('anna').headers)).toHaveLength(1);
    expect(await report(house, '?since=2027-01-04&until=2027-01-05', as('anna').headers)).toMatchObject([
      { name: '2027-01-04' },
    ]);
    expect(await report(house, '?until=2027-01-04T00:00:00Z', as('anna').headers)).toEqual([]);
  });

  it('[R58-usage-in-ledger] has calls that were cut, as far as something came of them: what was told, else an estimate', async () => {
    const from = report(house, '?by=turn', as('ben').headers);
    expect(await from).toEqual([]);
    house.say({ events: [{ text: 'a lot of text '.repeat(1_000) }, { hang: true }] });
    const cut = house.peer(as('ben'));
    await cut.open();
    await cut.run('hi');
    await cut.wait('update.textDelta');
    await cut.cancel();
    await cut.finish().catch(() => undefined);
    house.say({ events: [{ text: 'half an' }, { reset: true }] });
    const torn = await house.peer(as('ben')).turn('hi');
    expect(torn.fault?.detail).toContain('broke off');
    house.say({ status: { code: 400 } });
    await house.peer(as('ben')).turn('hi'); // nothing came of it, and nothing is owed
    const rows = await report(house, '?by=turn', as('ben').headers);
    expect(rows.map(({ name }) => name).toSorted()).toEqual([cut.runId, torn.runId].toSorted());
    const row = rows.find(({ name }) => name === cut.runId)!;
    expect(row).toMatchObject({ calls: 1, outputTokens: 3_500, unpricedCalls: 0 });
    expect(row['inputTokens']).toBeGreaterThan(1_000);
    expect(row.cost['USD']).toBeGreaterThan(0.35);
    expect(house.server.log.filter(({ text }) => text.includes('its usage is estimated'))).toHaveLength(2);
  });

  it('[R58-usage-in-ledger] passes over a count that no call has', async () => {
    for (const prompt of [5e9, 1e30]) {
      house.say({ text: 'fine', usage: { prompt_tokens: prompt, completion_tokens: 7 } });
      const peer = await house.peer(as('ben')).turn('hi');
      expect([peer.fault, peer.text]).toEqual([undefined, 'fine']);
      const rows = await report(house, '?by=turn', as('ben').headers);
      const row = rows.find(({ name }) => name === peer.runId)!;
      expect(row).toMatchObject({ outputTokens: 7, unpricedCalls: 1 });
      expect(row).not.toHaveProperty('inputTokens');
    }
  });

  it.each([
    ['?by=hour', 'by takes day, model, conversation, turn'],
    ['?since=yesterday', 'since takes a day such as 2026-12-01'],
    ['?sinse=2026-12-01', '"sinse" is no parameter of the usage; it has by, since'],
  ])('[R58-usage-in-ledger] refuses %s with what it takes', async (query, says) => {
    const response = await fetch(`${house.server.url}/v1/usage${query}`, as('anna'));
    expect(response.status).toBe(400);
    expect(((await response.json()) as { message: string }).message).toContain(says);
  });

  it('[R58-cost-of-call] is by the highest tier that the prompt reaches, whatever their order in the config', async () => {
    const own = await startPriced();
    own.say({ text: 'long', usage: usage(60_000, 10) });
    await own.peer().turn('hi');
    expect((await report(own))[0]!.cost['USD']).toBeCloseTo((60_000 * 30 + 10 * 300) / 1e6, 10);
    await own.close();
  });

  it('[R58-usage-in-ledger] outlives the server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tandem-usage-'));
    const before = await startPriced({}, { folder });
    before.say({ text: 'one', usage: usage(100, 1) });
    await before.peer().turn('hi');
    await before.close();
    const after = await startPriced({}, { folder });
    expect(await report(after)).toMatchObject([{ calls: 1, inputTokens: 100 }]);
    await after.close();
    rmSync(folder, { recursive: true });
  });
});

describe('a key with a budget', () => {
  it('[product-budget] is stopped between two model calls once it is spent, with what it may do, and keeps what it has', async () => {
    const budget = { amount: 0.01, per: 'day' };
    const house = await startPriced({ auth: { keys: [key('anna', budget), key('ben')] } }, { standing: true });
    house.clock.advance(Date.UTC(2027, 0, 4, 12) - house.clock.now());
    house.say({ calls: [{ name: 'Read', args: { path: '/repo/a.txt' } }], usage: usage(1_000, 1) });
    const peer = await house.peer(as('anna')).turn('hi');
    expect(peer.fault).toMatchObject({ code: 'resource_exhausted', title: 'Budget spent', retryable: false });
    expect(peer.fault!.detail).toContain('The key anna has spent 0.01 USD of the 0.01 USD that it has for a day.');
    expect(peer.fault!.detail).toContain('2027-01-05T00:00:00Z');
    expect(house.requests).toHaveLength(1);
    expect(peer.updates('toolCallCompleted')).toHaveLength(1);
    expect(peer.state.pendingToolCalls).toEqual([]);

    house.say({ text: 'ben pays' });
    expect((await house.peer(as('ben')).turn('hi')).text).toBe('ben pays');
    house.say();
    expect((await house.peer(as('anna')).turn('again')).fault?.title).toBe('Budget spent');
    expect(house.requests).toHaveLength(0);

    house.clock.advance(12 * 3_600_000);
    house.say({ text: 'a new day' });
    const next = peer.next(as('anna'));
    await next.open();
    await next.resume(peer.state);
    expect((await next.finish()).text).toBe('a new day');
    await house.close();
  });

  it('[product-budget] of everyone holds without keys, for a month, and not for a run that pays for itself', async () => {
    const own = await startProvider({ answers: () => ({ text: 'on my bill', usage: usage(1_000_000, 1) }) });
    const house = await startPriced(
      { budget: { amount: 0.5, per: 'month' }, credentials: { hosts: ['127.0.0.1'] } },
      { standing: true },
    );
    house.clock.advance(Date.UTC(2027, 0, 31, 12) - house.clock.now());
    const requestedModel = {
      modelId: 'test-model',
      credentials: { case: 'apiKeyCredentials', value: { apiKey: 'my-own-key-1', baseUrl: own.baseUrl } },
    };
    expect((await house.peer().turn('hi', { requestedModel })).text).toBe('on my bill');
    house.say({ text: 'the last', usage: usage(100_000, 1) });
    expect((await house.peer().turn('hi')).text).toBe('the last');
    house.say();
    const stopped = await house.peer().turn('hi');
    expect(stopped.fault?.detail).toContain('for a month. It has its budget again at 2027-02-01T00:00:00Z');
    expect((await house.peer().turn('hi', { requestedModel })).text).toBe('on my bill');
    house.clock.advance(12 * 3_600_000);
    house.say({ text: 'february' });
    expect((await house.peer().turn('hi')).text).toBe('february');
    await house.close();
    await own.close();
  });

  it.each([
    ['without a key', {}],
    ['with its key in a header', { headers: { 'x-gateway-token': 'operator-header-1234' } }],
  ])('[product-budget] holds for a run whose own key takes the place of none, at a provider %s', async (_, means) => {
    const operator = await startProvider({ answers: () => ({ text: 'for free?', usage: usage(1_000_000, 1) }) });
    const models = [{ id: 'test-model', price: PRICE }];
    const scripted = { type: 'openai-compatible', baseUrl: operator.baseUrl, models, ...means };
    const house = await startPriced({ providers: { scripted }, budget: { amount: 0.5, per: 'month' } });
    const withKey = (value: Record<string, string>) => ({
      requestedModel: { modelId: 'test-model', credentials: { case: 'apiKeyCredentials', value } },
    });
    expect((await house.peer().turn('hi', withKey({ apiKey: 'made-up-1234' }))).text).toBe('for free?');
    expect(operator.requests[0]!.headers['x-gateway-token']).toBeUndefined();
    for (const address of ['', operator.baseUrl]) {
      const value = { apiKey: 'made-up-1234', baseUrl: address };
      expect((await house.peer().turn('hi', withKey(value))).fault?.detail).toContain('It has its budget again');
    }
    expect(operator.requests).toHaveLength(1);
    await house.close();
    await operator.close();
  });

  it('[product-budget] gets titles without the model once it is spent; before, they count', async () => {
    const house = await startPriced({ budget: { amount: 0.001, per: 'day' } });
    house.say({ text: ['A fine title\n', 'and what nobody asked for'], usage: usage(1_000, 1) });
    const call = () => callCompanion({ url: house.server.url }, 'nameAgent', { userMessage: 'please mend the build' });
    expect((await call()).name).toBe('A fine title');
    expect(await report(house, '?by=conversation')).toMatchObject([{ name: '', calls: 1, inputTokens: 1_000 }]);
    house.say();
    expect((await call()).name).toBe('please mend the build');
    expect(house.requests).toHaveLength(0);
    await house.close();
  });

  it.each([
    [{ amount: 0, per: 'day' }, 'auth.keys[0].budget.amount: expected more than 0'],
    [{ amount: 5, per: 'week' }, 'auth.keys[0].budget.per: expected day or month'],
    [{ amount: 5, per: 'day', currency: 'dollars' }, 'auth.keys[0].budget.currency: expected a currency'],
  ])('[product-budget] is refused as %j', async (budget, says) => {
    await expect(startHouse({ config: { auth: { keys: [key('anna', budget)] } } })).rejects.toThrow(says);
  });
});
