import { fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { Config, RemoteProvider } from '../config/config.ts';
import { ENVIRONMENT } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { nearestTo } from '../config/nearest.ts';
import type { ModelEntry } from '../config/schema.ts';
import { createDemo } from './demo.ts';
import { withPrice } from '../usage/price-table.ts';
import { imageLimitsOf } from './image-limits.ts';
import { knownModel } from './known-models.ts';
import { lateModel } from './late-model.ts';
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_OUTPUT } from './limits.ts';
import { ModelShelf } from './model-shelf.ts';
import { checkNamedModels } from './named-models.ts';
import type { Catalogue, Model, ModelChoice, ModelInfo } from './port.ts';
import { preferred } from './preferred.ts';
import type { Fetch } from './provider-fetch.ts';
import { chooseParameters, parseEffortSuffix, parseVariant, takesEffort } from './variant.ts';

/** What the catalogue needs besides the config. */
export interface CatalogueOptions {
  readonly clock?: Clock;
  readonly fetch?: Fetch;
}

/** The catalogue, and what a person should know about how it came to be. */
export interface StartedCatalogue {
  readonly catalogue: Catalogue;
  readonly notices: readonly string[];
  /** Those of the notices that are about models which routes and fallbacks name and no provider has yet. */
  readonly missing: readonly string[];
}

/** Names that stand for the default model. */
const DEFAULT_NAMES = new Set(['', 'default', 'auto']);

/** How many near names an error gives. */
const NEAREST = 3;

/**
 * Makes the models of a config; providers whose models it does not list are asked for them, now and again later. One that does not
 * answer keeps nobody else from working.
 * @throws ConfigError when a file gives no model at all, two models have one key, or the default model, or one that a
 * route or a fallback names, is none of them.
 */
export async function createCatalogue(given: Config, options: CatalogueOptions = {}): Promise<StartedCatalogue> {
  const config = withoutDefaultRoute(given);
  const notices: string[] = [];
  const { clock = systemClock } = options;
  const lookUp = (name: string): Model | undefined =>
    find(models(), defaultModel(), { modelId: name, parameters: {} })?.model;
  const shelves = config.providers.map(provider => {
    if (provider.type === 'demo') return { provider, models: [createDemo(provider.name)] };
    const make = (info: ModelInfo, maxOutput?: number) => modelOf(provider, info, options, maxOutput);
    if (provider.models.length > 0) {
      const models = provider.models.map(entry => {
        const model = make(infoOf(provider, entry), entry.maxOutput);
        return entry.fallback ? withFallbacks(model, entry.fallback, name => lookUp(name)) : model;
      });
      return { provider, models };
    }
    const makeById = (id: string) => make(infoOf(provider, { id }));
    return new ModelShelf({ provider, make, makeById, clock, fetch: options.fetch });
  });
  const asked = shelves.filter(shelf => shelf instanceof ModelShelf);
  await Promise.all(asked.map(shelf => shelf.ask()));
  for (const shelf of asked) if (shelf.problem !== undefined) notices.push(problemText(shelf));
  const listed = () => shelves.flatMap(shelf => shelf.models);
  checkKeys(listed(), config);
  if (listed().length === 0 && config.source !== ENVIRONMENT) throw noModels(asked, config);
  const standIn = createDemo('demo');
  if (listed().length === 0) notices.push('No provider has a model, so the built-in demo model answers.');
  let chosen = listed().length > 0 ? defaultOf(listed(), asked, config) : undefined;
  const defaultModel = () => {
    if (listed().length > 0) chosen ??= defaultOf(listed(), asked, config);
    // a newer list of its provider brings a newer object for it; one that is no longer listed is still what the config says
    return listed().find(({ info }) => info.key === chosen?.info.key) ?? chosen ?? standIn;
  };
  const refresh: Catalogue['refresh'] = async (until = 'missing') => {
    const isAwaited = ({ problem }: ModelShelf) => until === 'all' || problem !== undefined;
    const answers = asked.map(shelf => ({ isAwaited: isAwaited(shelf), answer: shelf.ask() }));
    await Promise.all(answers.flatMap(one => (one.isAwaited ? [one.answer] : [])));
  };
  const models = () => (listed().length > 0 ? listed() : [standIn]);
  const missing = checkNamedModels(config, asked, name => lookUp(name) !== undefined);
  const catalogue = catalogueOf(models, defaultModel, refresh);
  return { catalogue, notices: [...notices, ...missing], missing };
}

/** A default that is a route is none of the models; the routes know it. */
function withoutDefaultRoute(config: Config): Config {
  const { defaultModel, ...rest } = config;
  return defaultModel !== undefined && Object.hasOwn(config.routes ?? {}, defaultModel) ? rest : config;
}

/** A model with others that stand in for it; names that nobody has yet are passed over. */
function withFallbacks(model: Model, names: readonly string[], lookUp: (name: string) => Model | undefined): Model {
  const fallbacks = () => names.map(lookUp).filter(found => found !== undefined);
  return { ...model, fallbacks, ...(model.max && { max: { ...model.max, fallbacks } }) };
}

function checkKeys(models: readonly Model[], config: Config): void {
  const seen = new Set<string>();
  for (const { info } of models) {
    if (seen.has(info.key)) throw new ConfigError(`The config ${config.source} names the model ${info.key} twice.`);
    seen.add(info.key);
  }
}

function problemText({ provider, models, problem }: ModelShelf): string {
  return models.length > 0
    ? `${provider.name} was asked for its models, but ${problem}; the ${models.length} models of the shipped table stand in.`
    : `${provider.name} is left aside until it answers: it was asked for its models, but ${problem}.`;
}

function noModels(asked: readonly ModelShelf[], { source }: Config): ConfigError {
  const lines = asked.map(
    ({ provider, problem }) =>
      `  providers.${provider.name}.models: expected a list of models; the provider at ${provider.baseUrl} was asked for its own, but ${problem}`,
  );
  return new ConfigError(`The config ${source} cannot be used:\n${lines.join('\n')}`);
}

/** A catalogue of ready models, whose lists may grow. */
function catalogueOf(
  models: () => readonly Model[],
  defaultModel: () => Model,
  refresh: NonNullable<Catalogue['refresh']>,
): Catalogue {
  return {
    get models() {
      return models().map(model => model.info);
    },
    get defaultModel() {
      return defaultModel().info;
    },
    refresh,
    resolve(choice) {
      const found = find(models(), defaultModel(), choice);
      if (!found) throw unknownModel(models(), choice?.modelId ?? '');
      const chosen = chooseParameters(found.model.info, { ...found.parameters, ...choice?.parameters });
      if ('refused' in chosen) {
        const { id, value, values } = chosen.refused;
        throw fault(
          'bad_request',
          `The model ${found.model.info.id} has no ${id} ${value}; it has ${values.join(', ')}.`,
        );
      }
      const model = (choice?.maxMode ? found.model.max : undefined) ?? found.model;
      return { model, ...chosen };
    },
  };
}

/** The models that a plain id or an alias means, best first: the default model, then the order of the config. */
function named(models: readonly Model[], defaultModel: Model, name: string): Model | undefined {
  const byKey = models.find(model => model.info.key === name);
  if (byKey) return byKey;
  const byId = models.filter(model => model.info.id === name);
  if (byId.length > 0) return byId.includes(defaultModel) ? defaultModel : byId[0];
  const byAlias = models.filter(({ info }) =>
    info.aliases.some(alias => alias === name || `${info.provider}/${alias}` === name),
  );
  return byAlias.includes(defaultModel) ? defaultModel : byAlias[0];
}

function find(
  models: readonly Model[],
  defaultModel: Model,
  choice: ModelChoice | undefined,
): { model: Model; parameters: Readonly<Record<string, string>> } | undefined {
  const name = choice?.modelId.trim() ?? '';
  const exact = named(models, defaultModel, name);
  if (exact) return { model: exact, parameters: {} };
  if (DEFAULT_NAMES.has(name)) return { model: defaultModel, parameters: {} };
  const variant = parseVariant(name);
  if (variant) {
    const inner = find(models, defaultModel, { modelId: variant.name, parameters: {} });
    return inner && { model: inner.model, parameters: { ...inner.parameters, ...variant.parameters } };
  }
  const suffix = parseEffortSuffix(name);
  const model = suffix && named(models, defaultModel, suffix.name);
  return model && takesEffort(model.info, suffix.parameters['effort'] ?? '')
    ? { model, parameters: suffix.parameters }
    : undefined;
}

function unknownModel(models: readonly Model[], name: string) {
  const names = models.flatMap(({ info }) => [info.id, ...info.aliases]);
  const keys = models.map(({ info }) => info.key);
  const wanted = name.replace(/\[[^[\]]*\]$/, '').slice(0, 100);
  const nearest = nearestTo(wanted, wanted.includes('/') ? [...keys, ...names] : names, NEAREST);
  const offer = nearest.length > 0 ? nearest : names.slice(0, NEAREST);
  return fault('unknown_model', `There is no model ${JSON.stringify(wanted)}. The nearest: ${offer.join(', ')}.`);
}

function defaultOf(models: readonly Model[], asked: readonly ModelShelf[], config: Config): Model {
  const [first] = models;
  if (!first) throw new ConfigError(`The config ${config.source} has no model.`);
  if (config.defaultModel === undefined) return preferred(models) ?? first;
  const found = find(models, first, { modelId: config.defaultModel, parameters: {} });
  if (found) return found.model;
  // a provider that did not tell its models is taken at the word of whoever wrote the config
  const silent = asked.find(
    ({ provider, problem }) => problem !== undefined && config.defaultModel!.startsWith(`${provider.name}/`),
  );
  if (silent) return silent.add(config.defaultModel.slice(silent.provider.name.length + 1));
  const near = nearestTo(
    config.defaultModel,
    models.map(({ info }) => info.key),
    NEAREST,
  );
  const known = near.length > 0 ? near : models.slice(0, NEAREST).map(({ info }) => info.key);
  throw new ConfigError(
    `The config ${config.source} cannot be used:\n  defaultModel: expected a model of a provider, such as ${known.join(', ')}, found ${JSON.stringify(config.defaultModel)}`,
  );
}

/** Makes a model of a provider. */
export function modelOf(
  provider: RemoteProvider,
  info: ModelInfo,
  options: CatalogueOptions,
  maxOutput?: number,
): Model {
  const late = (shown: ModelInfo, longest: number | undefined) =>
    lateModel(shown, async () => {
      const { createRemoteModel } = await import('./remote-model.ts');
      return createRemoteModel(provider, shown, { ...options, maxOutput: longest });
    });
  const images = imageLimitsOf(provider.type);
  const priced = { ...withPrice(provider.type, info), ...(images && { images }) };
  const { maxMode } = priced;
  if (!maxMode) return late(priced, maxOutput);
  return { ...late(priced, maxOutput), max: late({ ...priced, ...maxMode }, maxMode.maxOutput) };
}

function infoOf({ name: provider, type }: RemoteProvider, entry: ModelEntry): ModelInfo {
  const known = type === 'openai-compatible' ? undefined : knownModel(entry.id);
  const contextWindow = entry.contextWindow ?? known?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const maxOutput = entry.maxOutput ?? known?.maxOutput ?? DEFAULT_MAX_OUTPUT;
  return {
    key: `${provider}/${entry.id}`,
    provider,
    id: entry.id,
    name: entry.name ?? entry.id,
    ...(entry.description !== undefined && { description: entry.description }),
    contextWindow,
    maxOutput,
    vision: entry.vision ?? known?.vision ?? false,
    aliases: entry.aliases ?? [],
    parameters: entry.parameters ?? known?.parameters ?? [],
    ...(entry.price && { price: entry.price }),
    ...(entry.maxMode && { maxMode: maxModeOf(entry.maxMode, contextWindow, maxOutput) }),
  };
}

function maxModeOf(entry: NonNullable<ModelEntry['maxMode']>, contextWindow: number, maxOutput: number) {
  return { contextWindow: entry.contextWindow ?? contextWindow, maxOutput: entry.maxOutput ?? maxOutput };
}
