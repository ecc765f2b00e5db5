import { fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import type { CompatibleProvider, Config } from '../config/config.ts';
import { ENVIRONMENT } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { nearestTo } from '../config/nearest.ts';
import type { ModelEntry } from '../config/schema.ts';
import { createDemo } from './demo.ts';
import { listModels } from './discover.ts';
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_OUTPUT } from './limits.ts';
import { createOpenAICompatible } from './openai-compatible.ts';
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
}

/** Names that stand for the default model. */
const DEFAULT_NAMES = new Set(['', 'default', 'auto']);

/** How many near names an error gives. */
const NEAREST = 3;

/**
 * Makes the models of a config; providers whose models it does not list are asked for them.
 * @throws ConfigError when a provider of a file lists none, two models have one key, or the default model is none of them.
 */
export async function createCatalogue(config: Config, options: CatalogueOptions = {}): Promise<StartedCatalogue> {
  const notices: string[] = [];
  const lists = await Promise.all(
    config.providers.map(async provider => {
      if (provider.type === 'demo') return [createDemo(provider.name)];
      const entries = provider.models.map(entry =>
        modelOf(provider, infoOf(provider.name, entry), options, entry.maxOutput),
      );
      return entries.length > 0 ? entries : askForModels(provider, config, options, notices);
    }),
  );
  const models = lists.flat();
  if (models.length === 0) {
    models.push(createDemo('demo'));
    notices.push('No provider has a model, so the built-in demo model answers.');
  }
  const seen = new Set<string>();
  for (const { info } of models) {
    if (seen.has(info.key)) throw new ConfigError(`The config ${config.source} names the model ${info.key} twice.`);
    seen.add(info.key);
  }
  return { catalogue: catalogueOf(models, defaultOf(models, config)), notices };
}

/** A catalogue of ready models. */
function catalogueOf(models: readonly Model[], defaultModel: Model): Catalogue {
  return {
    models: models.map(model => model.info),
    defaultModel: defaultModel.info,
    resolve(choice) {
      const found = find(models, defaultModel, choice);
      if (!found) throw unknownModel(models, choice?.modelId ?? '');
      const chosen = chooseParameters(found.model.info, { ...found.parameters, ...choice?.parameters });
      if ('refused' in chosen) {
        const { id, value, values } = chosen.refused;
        throw fault(
          'bad_request',
          `The model ${found.model.info.id} has no ${id} ${value}; it has ${values.join(', ')}.`,
        );
      }
      return { model: found.model, parameters: chosen.parameters };
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

function defaultOf(models: readonly Model[], config: Config): Model {
  const [first] = models;
  if (!first) throw new ConfigError(`The config ${config.source} has no model.`);
  if (config.defaultModel === undefined) return preferred(models) ?? first;
  const found = find(models, first, { modelId: config.defaultModel, parameters: {} });
  if (found) return found.model;
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

async function askForModels(
  provider: CompatibleProvider,
  config: Config,
  options: CatalogueOptions,
  notices: string[],
): Promise<Model[]> {
  const isFromFile = config.source !== ENVIRONMENT;
  try {
    const { name, baseUrl } = provider;
    const infos = await listModels({ name, baseUrl, ...secretsOf(provider) }, options.fetch);
    if (infos.length > 0) return infos.map(info => modelOf(provider, info, options));
    throw new Error('it lists none');
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
    if (isFromFile) {
      throw new ConfigError(
        `The config ${config.source} cannot be used:\n  providers.${provider.name}.models: expected a list of models; ` +
          `the provider at ${provider.baseUrl} was asked for its own, but ${why}`,
        { cause: error },
      );
    }
    notices.push(`${provider.name} is left aside: it was asked for its models, but ${why}.`);
    return [];
  }
}

function secretsOf(provider: CompatibleProvider): { apiKey?: string | undefined; headers: Record<string, string> } {
  const headers = Object.entries(provider.headers).map(([name, secret]) => [name, secret.reveal()] as const);
  return { apiKey: provider.apiKey?.reveal(), headers: Object.fromEntries(headers) };
}

function modelOf(provider: CompatibleProvider, info: ModelInfo, options: CatalogueOptions, maxOutput?: number): Model {
  return createOpenAICompatible({
    info,
    baseUrl: provider.baseUrl,
    ...secretsOf(provider),
    maxOutput,
    ...(options.clock && { clock: options.clock }),
    ...(options.fetch && { fetch: options.fetch }),
  });
}

function infoOf(provider: string, entry: ModelEntry): ModelInfo {
  return {
    key: `${provider}/${entry.id}`,
    provider,
    id: entry.id,
    name: entry.name ?? entry.id,
    ...(entry.description !== undefined && { description: entry.description }),
    contextWindow: entry.contextWindow ?? DEFAULT_CONTEXT_WINDOW,
    maxOutput: entry.maxOutput ?? DEFAULT_MAX_OUTPUT,
    vision: entry.vision ?? false,
    aliases: entry.aliases ?? [],
    parameters: entry.parameters ?? [],
  };
}
