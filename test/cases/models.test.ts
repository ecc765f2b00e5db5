import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHouse } from '../support/house.ts';
import type { House } from '../support/house.ts';
import { fetchWhole, unaryHeaders } from '../support/wire.ts';

/** Rows M of docs/decisions/cases.md, the server's side. */
let house: House;
beforeAll(async () => {
  house = await startHouse();
});
afterAll(() => house.close());

interface Listed {
  readonly id: string;
  readonly aliases?: readonly string[];
}

async function listModels(): Promise<readonly Listed[]> {
  const answer = await fetchWhole({
    url: house.server.url,
    path: '/v1/models',
    method: 'GET',
    headers: unaryHeaders(),
  });
  return (JSON.parse(answer.body.toString()) as { items: Listed[] }).items;
}

/** Runs with a requested model; gives what reached the provider, all but the messages, which differ by their ids. */
async function requestOf(requestedModel: object): Promise<Record<string, unknown>> {
  house.say({ text: 'done' });
  const peer = await house.peer().turn('hello', { requestedModel });
  expect([requestedModel, peer.fault]).toEqual([requestedModel, undefined]);
  expect(house.requests).toHaveLength(1);
  const { messages: _, ...rest } = house.requests[0]!.body;
  return rest;
}

const effort = (value: string, id = 'effort') => ({ parameters: [{ id, value }] });

it('M01: every id and every alias that the catalogue lists is accepted by a run, and means its model', async () => {
  const items = await listModels();
  expect(items.map(({ id }) => id)).toEqual(['test-model', 'blind-model']);
  let names = 0;
  for (const { id, aliases = [] } of items) {
    for (const modelId of [id, ...aliases]) {
      expect([modelId, (await requestOf({ modelId })).model]).toEqual([modelId, id]);
      names++;
    }
  }
  expect(names).toBeGreaterThan(2);
});

it('M02: an effort suffix and an effort parameter give the same request, and the parameter wins', async () => {
  const bySuffix = await requestOf({ modelId: 'test-model-high' });
  expect(bySuffix).toMatchObject({ model: 'test-model', reasoning_effort: 'high' });
  for (const id of ['effort', 'reasoning', 'reasoning_effort'])
    expect(await requestOf({ modelId: 'test-model', ...effort('high', id) })).toEqual(bySuffix);
  expect(await requestOf({ modelId: 'test-model-low', ...effort('high') })).toEqual(bySuffix);
  expect(await requestOf({ modelId: 'test-model' })).not.toHaveProperty('reasoning_effort');
});

it('M04: a variant in brackets is the model with its parameters, whatever else stands in the brackets', async () => {
  const plain = await requestOf({ modelId: 'test-model', ...effort('medium') });
  for (const modelId of ['test-model[reasoning=medium,fast=false]', 'test-model[effort=medium]'])
    for (const isVariantStringRepresentation of [true, false])
      expect(await requestOf({ modelId, isVariantStringRepresentation })).toEqual(plain);
  expect(plain).toMatchObject({ model: 'test-model', reasoning_effort: 'medium' });
  const unknown = await house.peer().turn('hello', { requestedModel: { modelId: 'no-such[effort=low]' } });
  expect(unknown.fault).toMatchObject({ code: 'invalid_argument', title: 'Unknown model' });
});
