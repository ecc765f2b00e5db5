import type { Fault } from '@tandem/protocol';
import { afterEach, describe, expect, test } from 'vitest';
import type { Provider } from '../../../../test/support/provider.ts';
import { startProvider } from '../../../../test/support/provider.ts';
import type { RemoteProvider, Config, ProviderConfig } from '../config/config.ts';
import { ENVIRONMENT } from '../config/config.ts';
import { DEFAULT_LIMITS } from '../config/limits.ts';
import type { ModelEntry } from '../config/schema.ts';
import { Secret } from '../config/secret.ts';
import { createCatalogue } from './catalogue.ts';
import { modelItems } from './model-items.ts';
import type { Catalogue } from './port.ts';
import { withRoutes } from './route.ts';

const effort = { id: 'effort', values: [{ value: 'low' }, { value: 'high', displayName: 'High' }] };
const providerOf = (name: string, models: ModelEntry[], baseUrl = 'http://127.0.0.1:1/v1'): RemoteProvider => ({
  name,
  type: 'openai-compatible',
  baseUrl,
  headers: {},
  models,
});
const configOf = (providers: ProviderConfig[], rest: Partial<Config> = {}): Config => ({
  listen: { host: '127.0.0.1', port: 0, allowedOrigins: [], allowedHosts: [] },
  providers,
  auth: { keys: [] },
  store: { file: ':memory:' },
  limits: DEFAULT_LIMITS,
  source: '/x/tandem.yaml',
  notices: [],
  ...rest,
});

const CONFIG = configOf(
  [
    providerOf('a', [
      { id: 'shared', name: 'Shared of a', aliases: ['fast'] },
      { id: 'thinker', contextWindow: 50_000, maxOutput: 2_000, vision: true, aliases: ['deep'], parameters: [effort] },
    ]),
    providerOf('b', [{ id: 'shared' }, { id: 'vendor/large-high' }, { id: 'thinker-low' }]),
  ],
  { defaultModel: 'b/shared' },
);

const resolved = (catalogue: Catalogue, modelId: string, parameters: Record<string, string> = {}) => {
  const { model, parameters: chosen } = catalogue.resolve({ modelId, parameters });
  return [model.info.key, chosen];
};

describe('a model is found', async () => {
  const { catalogue } = await createCatalogue(CONFIG);

  test.each([
    ['provider and id', 'a/shared', 'a/shared', {}],
    ['its id', 'thinker', 'a/thinker', {}],
    ['an id of two providers, the default one first', 'shared', 'b/shared', {}],
    ['an id with a slash of its own', 'vendor/large-high', 'b/vendor/large-high', {}],
    ['an id with a slash after its provider', 'b/vendor/large-high', 'b/vendor/large-high', {}],
    ['an alias', 'deep', 'a/thinker', {}],
    ['an alias after its provider', 'a/fast', 'a/shared', {}],
    ['no name at all', '', 'b/shared', {}],
    ['the name of the default', 'default', 'b/shared', {}],
    ['a variant', 'thinker[effort=high]', 'a/thinker', { effort: 'high' }],
    [
      'a variant with what the model does not know',
      'thinker[reasoning=low, fast=false]',
      'a/thinker',
      { effort: 'low' },
    ],
    ['an empty variant', 'deep[]', 'a/thinker', {}],
    ['an effort suffix', 'thinker-high', 'a/thinker', { effort: 'high' }],
    ['an effort suffix after provider and alias', 'a/deep-high', 'a/thinker', { effort: 'high' }],
    ['a name that only looks like a suffix', 'thinker-low', 'b/thinker-low', {}],
    ['an effort of a model that nobody described', 'shared[reasoning_effort=medium]', 'b/shared', { effort: 'medium' }],
    ['an effort suffix of a model that nobody described', 'a/shared-minimal', 'a/shared', { effort: 'minimal' }],
  ])('[product-model-ids] by %s', (_, modelId, key, parameters) => {
    expect(resolved(catalogue, modelId)).toEqual([key, parameters]);
  });

  test('[product-model-ids] with parameters that win over suffix and variant (M02)', () => {
    expect(resolved(catalogue, 'thinker-high', { effort: 'low' })).toEqual(['a/thinker', { effort: 'low' }]);
    expect(resolved(catalogue, 'thinker[effort=high]', { effort: 'low' })).toEqual(['a/thinker', { effort: 'low' }]);
    expect(resolved(catalogue, 'thinker', { reasoning: 'high' })).toEqual(resolved(catalogue, 'thinker-high'));
    expect(catalogue.resolve(undefined).model.info.key).toBe('b/shared');
  });

  test('without parameters that are not its own', () => {
    expect(resolved(catalogue, 'thinker', { fast: 'true', thinking: '' })).toEqual(['a/thinker', {}]);
  });
});

describe('a model is refused', async () => {
  const { catalogue } = await createCatalogue(CONFIG);
  const failure = (modelId: string, parameters: Record<string, string> = {}) => {
    try {
      catalogue.resolve({ modelId, parameters });
    } catch (error) {
      return error as Fault;
    }
    throw new Error('it was found');
  };

  test('with the nearest names when there is none', () => {
    const unknown = failure('thinkr');
    expect(unknown).toMatchObject({ name_: 'unknown_model', code: 'invalid_argument', retryable: false });
    expect(unknown.detail).toBe('There is no model "thinkr". The nearest: thinker.');
    expect(failure('thinkr[effort=high]').detail).toContain('thinker');
    expect(failure('zzzzzzzz').detail).toContain('The nearest: shared, fast,');
    expect(failure('x'.repeat(100_000)).detail.length).toBeLessThan(300);
  });

  test('when it does not have the effort that was asked for', () => {
    expect(failure('thinker-medium').name_).toBe('unknown_model');
    expect(failure('thinker[effort=medium]')).toMatchObject({
      name_: 'bad_request',
      detail: 'The model thinker has no effort medium; it has low, high.',
    });
  });
});

test('every id and alias that is listed means its own model [M01]', async () => {
  const { catalogue } = await createCatalogue(CONFIG);
  const { items } = modelItems(catalogue);
  expect(items.map(item => item.id)).toEqual(['b/shared', 'a/shared', 'thinker', 'vendor/large-high', 'thinker-low']);
  for (const item of items) {
    const [key] = resolved(catalogue, item.id);
    for (const alias of item.aliases ?? []) expect(resolved(catalogue, alias)[0]).toBe(key);
  }
  const names = items.flatMap(item => [item.id, ...(item.aliases ?? [])]);
  expect(new Set(names).size).toBe(names.length);
  expect(items[2]).toEqual({
    id: 'thinker',
    displayName: 'thinker',
    contextWindow: 50_000,
    maxOutput: 2_000,
    vision: true,
    thinking: true,
    aliases: ['deep', 'a/thinker'],
    parameters: [effort],
    variants: [
      { params: [{ id: 'effort', value: 'low' }], displayName: 'thinker low' },
      { params: [{ id: 'effort', value: 'high' }], displayName: 'thinker High' },
    ],
  });
});

describe('a config', () => {
  test('whose default model is unknown is refused with the nearest', async () => {
    await expect(createCatalogue({ ...CONFIG, defaultModel: 'b/sharde' })).rejects.toThrow(
      /defaultModel: expected .*b\/shared.*found "b\/sharde"/,
    );
  });

  test('[bad-named-model] is refused for each model that a route or a fallback names and nobody can have', async () => {
    const providers = [providerOf('a', [{ id: 'one', fallback: ['a/two', 'tow'] }, { id: 'two' }])];
    const routes = { fast: { models: [{ model: 'one' }, { model: 'a/gone' }] } };
    await expect(createCatalogue(configOf(providers, { routes, defaultModel: 'fast' }))).rejects.toThrow(
      [
        'The config /x/tandem.yaml cannot be used:',
        '  routes.fast.models[1].model: expected a model of a provider, found "a/gone"',
        '  providers.a.models[0].fallback[1]: expected a model of a provider, found "tow"',
      ].join('\n'),
    );
  });

  test('[bad-named-model] is taken with a notice where a provider that is silent may have the model', async () => {
    const providers = [
      providerOf('a', [{ id: 'one', fallback: ['b/two'] }]),
      { ...providerOf('b', []), type: 'ollama' },
    ];
    const routes = { fast: { models: [{ model: 'three' }] } };
    const { catalogue, missing, notices } = await createCatalogue(configOf(providers as RemoteProvider[], { routes }));
    expect(missing).toEqual([
      'The route fast leads to three, which no provider has yet; it is passed over until one does.',
      'The model one falls back to b/two, which no provider has yet; it is passed over until one does.',
    ]);
    expect(notices).toEqual(expect.arrayContaining([...missing]));
    expect(() => withRoutes(catalogue, routes, undefined).resolve({ modelId: 'fast', parameters: {} })).toThrow(
      'The route fast leads to three, which no provider has. Mend routes.fast in the config.',
    );
    const known = { fast: { models: [{ model: 'a/gone' }] } };
    await expect(createCatalogue(configOf(providers as RemoteProvider[], { routes: known }))).rejects.toThrow('a/gone');
  });

  test('that names a model twice is refused', async () => {
    await expect(createCatalogue(configOf([providerOf('a', [{ id: 'x' }, { id: 'x' }])]))).rejects.toThrow(
      'names the model a/x twice',
    );
  });

  test('without a default model takes the newest of a known family, else the first', async () => {
    const defaultOf = async (...ids: string[]) =>
      (
        await createCatalogue(
          configOf([
            providerOf(
              'a',
              ids.map(id => ({ id })),
            ),
          ]),
        )
      ).catalogue.defaultModel.id;
    expect(await defaultOf('gpt-4', 'gpt-5', 'gpt-5.1', 'gpt-5-mini')).toBe('gpt-5.1');
    expect(await defaultOf('one', 'two')).toBe('one');
  });
});

describe('a provider without models in the config', () => {
  let provider: Provider | undefined;
  afterEach(() => provider?.close());

  test('is asked for them, with what it tells of them', async () => {
    provider = await startProvider({
      answers: [],
      models: ['models/gemini-3-pro', 'text-embedding-3', 'gemini-3-pro'],
    });
    const { catalogue } = await createCatalogue(configOf([providerOf('g', [], provider.baseUrl)]));
    expect(catalogue.models).toMatchObject([
      { key: 'g/gemini-3-pro', id: 'gemini-3-pro', vision: true, contextWindow: 128_000 },
    ]);
  });

  test('and without an answer is an error of a file, and a notice of the environment', async () => {
    const silent = { ...providerOf('s', []), apiKey: new Secret('sk-12345678') };
    await expect(createCatalogue(configOf([silent]))).rejects.toThrow(
      /providers\.s\.models: expected a list of models; the provider at http:\/\/127.* but its port is one that HTTP never calls$/,
    );
    const { catalogue, notices } = await createCatalogue(configOf([silent], { source: ENVIRONMENT }));
    expect(catalogue.defaultModel.key).toBe('demo/demo');
    expect(notices.join(' ')).toMatch(/s is left aside.*demo model answers/);
    const gone = createCatalogue(configOf([providerOf('s', [], 'http://127.0.0.1:65534/v1')]));
    await expect(gone).rejects.toThrow(/was asked for its own, but nobody listens there \(ECONNREFUSED\)$/);
  });
});
