import type { Clock } from '../clock.ts';
import type { RemoteProvider } from '../config/config.ts';
import { keyHeaders, providerTypeOf } from '../config/provider-types.ts';
import { shippedModels } from '../usage/price-table.ts';
import { connectionWords } from './connection-words.ts';
import { LIST_AGAIN_MS, LIST_FRESH_MS } from './limits.ts';
import type { Model, ModelInfo } from './port.ts';
import type { Fetch } from './provider-fetch.ts';

export interface ShelfOptions {
  readonly provider: RemoteProvider;
  /** Makes a model of this provider that its list told of. */
  readonly make: (info: ModelInfo) => Model;
  /** Makes a model of this provider that is known by its id alone. */
  readonly makeById: (id: string) => Model;
  readonly clock: Clock;
  readonly fetch?: Fetch | undefined;
}

/**
 * The models of one provider that the config does not list: what the provider told when it was asked last, else the shipped table of
 * its type. A list stays until a newer one comes, and a failure takes nothing away.
 */
export class ModelShelf {
  models: readonly Model[] = [];
  /** Why there is no list of the provider's own, as the end of a sentence; undefined once there is one. */
  problem: string | undefined;
  readonly provider: RemoteProvider;
  readonly #options: ShelfOptions;
  #askedAt = -Infinity;
  #asking: Promise<void> | undefined;

  constructor(options: ShelfOptions) {
    this.#options = options;
    this.provider = options.provider;
  }

  /** Asks the provider, unless it was asked lately; resolves when it answered or its two seconds are over. Never rejects. */
  ask(): Promise<void> {
    if (this.#asking) return this.#asking;
    const age = this.#options.clock.now() - this.#askedAt;
    if (age < (this.problem === undefined ? LIST_FRESH_MS : LIST_AGAIN_MS)) return Promise.resolve();
    this.#asking = this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const { provider, make, makeById, clock } = this.#options;
    this.#askedAt = clock.now();
    try {
      this.models = (await this.#list()).map(make);
      this.problem = undefined;
    } catch (error) {
      // what the list itself was found to lack is said in words already; of a connection only the system's code may be known
      this.problem = isOfConnection(error) ? connectionWords(error) : (error as Error).message;
      if (this.models.length === 0) this.models = shippedModels(provider.type).map(makeById);
    }
  }

  async #list(): Promise<ModelInfo[]> {
    const { provider, fetch } = this.#options;
    const { name, baseUrl, type, apiKey } = provider;
    if (!providerTypeOf(type).listsModels) throw new Error(`providers of type ${type} have none`);
    const { listModels } = await import('./discover.ts');
    const { headersOf } = await import('./remote-model.ts');
    const headers = { ...keyHeaders(type, apiKey?.reveal()), ...headersOf(provider) };
    const infos = await listModels({ name, type, baseUrl, headers }, fetch);
    if (infos.length === 0) throw new Error('it lists none');
    return infos;
  }

  /** Takes a model in that a person named though no list has it. */
  add(id: string): Model {
    const model = this.#options.makeById(id);
    this.models = [...this.models, model];
    return model;
  }
}

/** Whether nothing was read of an answer: `fetch` throws a TypeError for a connection that failed and a DOMException for one that was given up. */
function isOfConnection(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}
