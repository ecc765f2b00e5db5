import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { RemoteType } from '../config/provider-types.ts';
import type { ModelShelf } from './model-shelf.ts';

/** A model that a route or a fallback of the config names, and where. */
interface NamedModel {
  readonly name: string;
  /** The path of the key: `routes.fast.models[1].model`. */
  readonly path: string;
  /** The beginning of a sentence: `The route fast leads to`. */
  readonly says: string;
}

/** Types whose ids may begin with the name of another provider, as `openai/gpt-5` does. */
const GATEWAYS: ReadonlySet<RemoteType> = new Set(['openrouter', 'openai-compatible']);

/**
 * Looks for every model that a route or a fallback of the config names. A provider that has not told its models may still have one, so
 * that is a notice.
 *
 * @param asked the providers whose models the config does not list
 * @returns a sentence for each that no provider has yet
 * @throws ConfigError that names each of those that no provider can have
 */
export function checkNamedModels(
  config: Config,
  asked: readonly ModelShelf[],
  hasModel: (name: string) => boolean,
): string[] {
  const silent = asked.filter(({ problem }) => problem !== undefined).map(({ provider }) => provider);
  const hasSilentGateway = silent.some(({ type }) => GATEWAYS.has(type));
  const canCome = (name: string) => {
    const owner = config.providers.find(provider => name.startsWith(`${provider.name}/`))?.name;
    return owner === undefined
      ? silent.length > 0
      : hasSilentGateway || silent.some(provider => provider.name === owner);
  };
  const missing = namedModels(config).filter(({ name }) => !hasModel(name));
  const wrong = missing.filter(({ name }) => !canCome(name));
  if (wrong.length > 0) {
    const lines = wrong.map(
      ({ path, name }) => `  ${path}: expected a model of a provider, found ${JSON.stringify(name)}`,
    );
    throw new ConfigError(`The config ${config.source} cannot be used:\n${lines.join('\n')}`);
  }
  return missing.map(
    ({ says, name }) => `${says} ${name}, which no provider has yet; it is passed over until one does.`,
  );
}

/** Whether a config names models besides listing them: as its default, in routes, in fallbacks. */
export function namesModels(config: Config): boolean {
  return config.defaultModel !== undefined || namedModels(config).length > 0;
}

function namedModels({ providers, routes = {} }: Config): NamedModel[] {
  const inRoutes = Object.entries(routes).flatMap(([route, { models }]) =>
    models.flatMap(({ model }, at) =>
      // a route that leads to a route is refused in words of its own
      Object.hasOwn(routes, model)
        ? []
        : [{ name: model, path: `routes.${route}.models[${at}].model`, says: `The route ${route} leads to` }],
    ),
  );
  const inFallbacks = providers.flatMap(provider =>
    ('models' in provider ? provider.models : []).flatMap(({ id, fallback = [] }, at) =>
      fallback.map((name, place) => ({
        name,
        path: `providers.${provider.name}.models[${at}].fallback[${place}]`,
        says: `The model ${id} falls back to`,
      })),
    ),
  );
  return [...inRoutes, ...inFallbacks];
}
