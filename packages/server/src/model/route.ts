import { hash } from 'node:crypto';
import { Fault, fault } from '@tandem/protocol';
import type { RouteConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Catalogue, Model, ModelChoice, ModelInfo, ResolvedModel } from './port.ts';
import { parseVariant } from './variant.ts';

/**
 * A catalogue that has routes beside its models: names behind which several models stand. A conversation is always led to the same
 * one, so that its provider's cache stays warm, on every node alike; the others stand in for it, those of the same priority first.
 *
 * @param routes by their names, which come before models of the same name
 * @param defaultName the default of the config; a route is the default when it is named here
 * @throws ConfigError when a route leads to another route
 */
export function withRoutes(
  catalogue: Catalogue,
  routes: Readonly<Record<string, RouteConfig>>,
  defaultName: string | undefined,
): Catalogue {
  for (const [name, { models }] of Object.entries(routes)) {
    const inner = models.find(({ model }) => Object.hasOwn(routes, model));
    if (inner)
      throw new ConfigError(
        `The route ${name} of the config leads to the route ${inner.model}; routes lead to models.`,
      );
  }
  const shown = (name: string) => infoOf(name, membersOf(catalogue, routes[name]!));
  const infos = () => Object.keys(routes).flatMap(name => shown(name) ?? []);
  const isDefault = defaultName !== undefined && Object.hasOwn(routes, defaultName);

  return {
    get models() {
      return [...infos(), ...catalogue.models];
    },
    get defaultModel() {
      return (isDefault ? shown(defaultName) : undefined) ?? catalogue.defaultModel;
    },
    refresh: until => catalogue.refresh?.(until) ?? Promise.resolve(),
    resolve(choice) {
      const asked = choice?.modelId.trim() ?? '';
      const variant = parseVariant(asked) ?? { name: asked, parameters: {} };
      const isUnnamed = ['', 'default', 'auto'].includes(variant.name);
      const name = isDefault && isUnnamed ? defaultName : variant.name.replace(/^route\//, '');
      const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
      if (!route) return catalogue.resolve(choice);
      const chosen = { ...choice, parameters: { ...variant.parameters, ...choice?.parameters } };
      return resolveRoute(catalogue, name, route, chosen);
    },
  };
}

interface Member {
  readonly model: Model;
  readonly name: string;
  readonly weight: number;
  readonly priority: number;
}

/** The members of a route that there are now: a provider may not have told its models yet. */
function membersOf(catalogue: Catalogue, { models }: RouteConfig): Member[] {
  return models.flatMap(({ model: name, weight = 1, priority = 1 }) => {
    try {
      return [{ model: catalogue.resolve({ modelId: name, parameters: {} }).model, name, weight, priority }];
    } catch (error) {
      if (error instanceof Fault && error.name_ === 'unknown_model') return [];
      throw error;
    }
  });
}

function resolveRoute(
  catalogue: Catalogue,
  name: string,
  route: RouteConfig,
  choice: Omit<ModelChoice, 'modelId'>,
): ResolvedModel {
  const [first, ...rest] = inOrder(membersOf(catalogue, route), choice.session ?? '');
  if (!first) {
    const names = route.models.map(({ model }) => model).join(', ');
    throw fault(
      'unknown_model',
      `The route ${name} leads to ${names}, which no provider has. Mend routes.${name} in the config.`,
    );
  }
  const found = catalogue.resolve({ ...choice, modelId: first.name });
  const fallbacks = () => rest.map(({ model }) => model);
  return { ...found, model: { ...found.model, fallbacks }, route: name };
}

/**
 * Members in the order in which they are asked: by priority, then by a draw that each session has for itself. In this draw each member
 * comes first as often as its weight says, and one that is added or taken away moves no session between two others.
 */
function inOrder(members: readonly Member[], session: string): Member[] {
  const draws = new Map(members.map(member => [member, drawOf(member, session)]));
  return [...members].sort((a, b) => a.priority - b.priority || draws.get(b)! - draws.get(a)!);
}

/** A number that only this member and session have: the larger, the earlier. */
function drawOf({ model, weight }: Member, session: string): number {
  const chance = (hash('sha256', `${session}\0${model.info.key}`, 'buffer').readUInt32BE() + 0.5) / 2 ** 32;
  return Math.log(chance) / weight;
}

/** What holds whichever member answers. */
function infoOf(name: string, members: readonly Member[]): ModelInfo | undefined {
  const [first] = members;
  if (!first) return undefined;
  const infos = members.map(({ model }) => model.info);
  return {
    key: `route/${name}`,
    provider: 'route',
    id: name,
    name,
    description: `One of ${infos.map(info => info.name).join(', ')}, the same for all of a conversation.`,
    contextWindow: Math.min(...infos.map(info => info.contextWindow)),
    maxOutput: Math.min(...infos.map(info => info.maxOutput)),
    vision: infos.every(info => info.vision),
    aliases: [],
    parameters: first.model.info.parameters.flatMap(parameter => {
      const values = parameter.values.filter(({ value }) =>
        infos.every(info =>
          info.parameters.some(({ id, values: own }) => id === parameter.id && own.some(one => one.value === value)),
        ),
      );
      return values.length > 0 ? [{ ...parameter, values }] : [];
    }),
  };
}
