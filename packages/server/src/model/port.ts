import type { ModelMessage, ProviderOptions } from '@tandem/protocol/message';
import type { ImageLimits } from './image-limits.ts';
import type { RunCredentials } from '../credentials/run-credentials.ts';

/** What a million tokens cost. Cached input costs as much as other input where nothing else is said. */
interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** What a model costs. */
export interface ModelPrice extends Rates {
  /** What the whole of a call costs whose prompt, cached parts included, has more tokens than `above`; the least first. */
  readonly tiers?: readonly (Rates & { readonly above: number })[] | undefined;
  /** ISO 4217; US dollars when absent. */
  readonly currency?: string | undefined;
  /** The day of which the price is. */
  readonly date?: string | undefined;
}

/** What a model can do; one entry of the catalogue. */
export interface ModelInfo {
  /** Unique: `provider/id`. */
  readonly key: string;
  readonly provider: string;
  /** The provider's own name for it, sent on the wire. */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Tokens the model takes in and gives out together. */
  readonly contextWindow: number;
  /** Most tokens of one answer. */
  readonly maxOutput: number;
  readonly vision: boolean;
  /** What its provider takes as an image; absent where that is not known. */
  readonly images?: ImageLimits;
  readonly aliases: readonly string[];
  /** Parameters a client may choose, e.g. effort: low, medium, high. */
  readonly parameters: readonly {
    id: string;
    displayName?: string;
    values: readonly { value: string; displayName?: string }[];
  }[];
  /** What max mode makes of the two bounds (§6.1); absent where it changes nothing. */
  readonly maxMode?: { readonly contextWindow: number; readonly maxOutput: number };
  /** Absent where it is not known. */
  readonly price?: ModelPrice;
}

/** A tool as the provider sees it; the name fits `[A-Za-z0-9_-]{1,64}` and is unique in its request (R61). */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON schema, `type: object` at its root. */
  readonly parameters: Record<string, unknown>;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Chosen parameters, e.g. `{ effort: 'high' }`; an empty object lets the provider decide. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The same for every call of one conversation, so that a provider keeps them on one cache; at most 64 characters. */
  readonly cacheKey?: string | undefined;
  /** Called whenever bytes of the answer arrive, comments included: a provider that thinks is not a provider that is silent. */
  readonly onActivity?: (() => void) | undefined;
  /** Called with what the provider tells of its tokens before the end, if it does: all that is known of a call that is cut. */
  readonly onUsage?: ((usage: Usage) => void) | undefined;
}

/**
 * Tokens of one model call, normalised at the adapter (R58, R59): `inputTokens` without the two cache counts,
 * `outputTokens` with `reasoningTokens`. What the provider did not report stays undefined.
 */
export interface Usage {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
  reasoningTokens?: number | undefined;
}

/**
 * Why a model call ended (R57). `missing`: the stream ended and no reason came; `refusal` and `content-filter`: nothing runs.
 */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'refusal' | 'missing';

/**
 * What a model call gives, in order. `key` names one tool call inside this model call and nothing else. Deltas are appended
 * text. `tool-call` is authoritative: raw argument text, complete or cut; there is one for each `tool-start` before `finish`,
 * unless the call failed. `finish` is the last event of every call that did not throw. `providerOptions` are stored with the
 * part as they are (R46): they say which model wrote it, so that a provider gets back its own reasoning and its own call ids
 * (R24), and nobody else's.
 */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'reasoning-end'; providerOptions?: ProviderOptions }
  | { type: 'redacted-reasoning'; data: string; providerOptions?: ProviderOptions }
  | { type: 'tool-start'; key: string; providerId: string; name: string }
  | { type: 'tool-args'; key: string; text: string }
  | {
      type: 'tool-call';
      key: string;
      providerId: string;
      name: string;
      args: string;
      providerOptions?: ProviderOptions;
    }
  | { type: 'finish'; reason: FinishReason; usage: Usage };

/** One model behind one provider. */
export interface Model {
  readonly info: ModelInfo;
  /** The same model with its larger window, if it has one (§6.1). */
  readonly max?: Model | undefined;
  /** The models that answer in its place when its provider fails before the first word, in order. */
  readonly fallbacks?: (() => readonly Model[]) | undefined;
  /**
   * One model call. Throws a Fault (R55) that says whether another try could help; never throws after the signal aborted
   * anything but the signal's reason.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/** What a run asked for: `requested_model`, else `model_details`, else nothing (the default). */
export interface ModelChoice {
  modelId: string;
  parameters: Record<string, string>;
  /** Asks for the larger window of a model that has one (§6.1). */
  maxMode?: boolean;
  /** With whose key the model is called; the server's own when absent (§6). */
  credentials?: RunCredentials | undefined;
  /** What stays together on a route: the conversation. */
  session?: string | undefined;
}

/** A model that was found, and what of the choice it is asked for. */
export interface ResolvedModel {
  model: Model;
  parameters: Record<string, string>;
  /** Parameters of the choice that the model does not have, and that it is therefore not asked for. */
  ignored?: readonly { readonly id: string; readonly value: string }[];
  /** The name of the route that led to the model. */
  route?: string;
  /** Whether the run's own credentials pay for its calls (§6), so that no budget of the operator's counts them. */
  isOwnKey?: boolean;
}

/** The models of this server. */
export interface Catalogue {
  readonly models: readonly ModelInfo[];
  readonly defaultModel: ModelInfo;
  /**
   * Finds a model by `id`, alias, `provider/id`, variant string `id[effort=high]` or effort suffix `id-high`; parameters win
   * over suffix and variant. Undefined or empty choice: the default.
   * @throws Fault `unknown_model` that names the nearest ids, `credentials_refused` when the policy does not take the credentials.
   */
  resolve(choice: ModelChoice | undefined): ResolvedModel;
  /**
   * Asks providers for their lists again where these are old or missing, each at most now and then. Never rejects.
   *
   * @param until resolves once all of these were asked, or (the default) once those were that had no list
   */
  refresh?(until?: 'missing' | 'all'): Promise<void>;
}
