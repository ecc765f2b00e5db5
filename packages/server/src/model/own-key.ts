import { createHash } from 'node:crypto';
import { Fault, fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import type { RemoteProvider, CredentialsRule, ProviderConfig } from '../config/config.ts';
import { CredentialsPolicy, hostOf } from '../credentials/policy.ts';
import { secretTexts } from '../credentials/run-credentials.ts';
import type { RunCredentials } from '../credentials/run-credentials.ts';
import { REDACTED, redactText } from '../observe/secret-text.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import type { LookupAll } from './guarded-fetch.ts';
import { knownModel } from './known-models.ts';
import { DEFAULT_CONTEXT_WINDOW, DEFAULT_MAX_OUTPUT } from './limits.ts';
import type { Catalogue, Model, ModelChoice, ModelInfo, ResolvedModel } from './port.ts';
import type { Fetch } from './provider-fetch.ts';
import { isPaidByRun, placeOf } from './own-place.ts';
import { parseVariant } from './variant.ts';

/** Makes a model of a provider; the catalogue's own way of doing so. */
export type MakeModel = (
  provider: Exclude<ProviderConfig, { type: 'demo' }>,
  info: ModelInfo,
  options: { readonly clock?: Clock; readonly fetch?: Fetch },
) => Model;

export interface OwnKeyOptions {
  readonly rule: CredentialsRule;
  readonly providers: readonly ProviderConfig[];
  readonly make: MakeModel;
  readonly clock?: Clock;
  readonly lookup?: LookupAll | undefined;
}

/**
 * A catalogue that also resolves choices with credentials of their own (§6). Such a model may be one that the server offers, or one
 * that only the address which came with the key knows. Nothing of the operator (key, headers) goes to an address that a run
 * brought, and nothing of the run's key comes out in an error.
 */
export function withOwnKeys(catalogue: Catalogue, options: OwnKeyOptions): Catalogue {
  const remote = options.providers.filter(provider => provider.type !== 'demo');
  const policy = new CredentialsPolicy(
    options.rule,
    remote.map(({ baseUrl }) => baseUrl),
  );
  const guardedFetch = createGuardedFetch(policy, options.lookup);

  const modelOf = (choice: ModelChoice, credentials: RunCredentials): ResolvedModel => {
    const known = findKnown(catalogue, choice);
    const home = known && remote.find(({ name }) => name === known.model.info.provider);
    const asked = known && home ? known : namedFreely(choice);
    const place = placeOf(credentials, asked.info, home);
    const url = new URL(place.baseUrl);
    policy.checkUrl(url);
    const info =
      place.baseUrl === home?.baseUrl ? asked.info : strangerOf(deployed(asked.info, credentials), place, url);
    const refusals: Fault[] = [];
    const fetch: Fetch = async (address, init) => {
      try {
        return await guardedFetch(address, init);
      } catch (error) {
        if (error instanceof Fault) refusals.push(error); // what lies above would take it for a broken connection
        throw error;
      }
    };
    const model = options.make(place, info, { ...(options.clock && { clock: options.clock }), fetch });
    const { parameters, ignored } = asked;
    return {
      model: guarded(model, secretTexts(credentials), refusals),
      parameters,
      isOwnKey: isPaidByRun(place, remote),
      ...(ignored && { ignored }),
    };
  };

  return {
    get models() {
      return catalogue.models;
    },
    get defaultModel() {
      return catalogue.defaultModel;
    },
    refresh: until => catalogue.refresh?.(until) ?? Promise.resolve(),
    resolve(choice) {
      if (!choice?.credentials) return catalogue.resolve(choice);
      policy.checkAllowed();
      return modelOf(choice, choice.credentials);
    },
  };
}

interface Asked {
  readonly info: ModelInfo;
  readonly parameters: Record<string, string>;
  readonly ignored?: ResolvedModel['ignored'];
}

/** The model as the server offers it; undefined when the server offers none of the name. */
function findKnown(catalogue: Catalogue, choice: ModelChoice): (ResolvedModel & Asked) | undefined {
  try {
    const found = catalogue.resolve({ ...choice, credentials: undefined });
    return { ...found, info: found.model.info };
  } catch (error) {
    if (error instanceof Fault && error.name_ === 'unknown_model') return undefined;
    throw error;
  }
}

/** A model that nobody here described, under the name that the run gives it. */
function namedFreely({ modelId, parameters }: ModelChoice): Asked {
  const variant = parseVariant(modelId) ?? { name: modelId.trim(), parameters: {} };
  if (variant.name === '' || variant.name === 'default' || variant.name === 'auto') {
    throw fault(
      'bad_request',
      'The run brings a key of its own and names no model, and the default model of this server takes no key. Name a model of the provider in model_id.',
    );
  }
  const info: ModelInfo = {
    key: variant.name,
    provider: 'own',
    id: variant.name,
    name: variant.name,
    contextWindow: DEFAULT_CONTEXT_WINDOW,
    maxOutput: DEFAULT_MAX_OUTPUT,
    vision: true,
    aliases: [],
    parameters: [],
    ...knownModel(variant.name),
  };
  return { info, parameters: { ...variant.parameters, ...parameters } };
}

/** The same model at an address that a run brought. Its key tells it from others of the name: reasoning goes back to its own address alone (P02). */
function strangerOf(info: ModelInfo, place: RemoteProvider, url: URL): ModelInfo {
  const mark = createHash('sha256').update(place.baseUrl).digest('hex').slice(0, 8);
  return { ...info, key: `own-${mark}/${info.id}`, provider: hostOf(url) };
}

/** At Azure a model goes by the name of its deployment. */
function deployed(info: ModelInfo, credentials: RunCredentials): ModelInfo {
  return credentials.kind === 'azure' && credentials.deployment !== '' ? { ...info, id: credentials.deployment } : info;
}

/** A model whose failures are the policy's where it refused, and say nothing of the secrets, neither to the client nor to the log. */
function guarded(model: Model, secrets: readonly string[], refusals: readonly Fault[]): Model {
  return {
    info: model.info,
    async *stream(request) {
      try {
        yield* model.stream(request);
      } catch (error) {
        if (request.signal.aborted) throw error;
        throw cleanFault(refusals.at(-1) ?? error, secrets);
      }
    },
  };
}

function cleanFault(error: unknown, secrets: readonly string[]): Fault {
  const { name_, detail, title, code, error: kind, retryable, additionalInfo } = Fault.from(error);
  const clean = (text: string) => redactSecrets(text, secrets);
  const info = Object.fromEntries(Object.entries(additionalInfo).map(([name, text]) => [name, clean(text)]));
  const cause = name_ === 'internal' && error instanceof Error ? new Error(clean(error.message)) : undefined;
  return fault(name_, clean(detail), {
    title,
    code,
    error: kind,
    retryable,
    additionalInfo: info,
    ...(cause && { cause }),
  });
}

/** Short secrets too: whoever brings one knows that it is one. */
function redactSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (clean, secret) => (secret.length < 4 ? clean : clean.replaceAll(secret, REDACTED)),
    redactText(text, secrets),
  );
}
