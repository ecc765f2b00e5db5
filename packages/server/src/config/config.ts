import type { Limits } from './limits.ts';
import type { ModelEntry } from './schema.ts';
import type { Secret } from './secret.ts';

/** A provider that is called over the OpenAI chat-completions wire. */
export interface CompatibleProvider {
  readonly name: string;
  readonly type: 'openai-compatible';
  readonly baseUrl: string;
  readonly apiKey?: Secret;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Empty: the provider is asked for its models at start. */
  readonly models: readonly ModelEntry[];
}

/** The built-in model that needs no provider. */
interface DemoProvider {
  readonly name: string;
  readonly type: 'demo';
}

export type ProviderConfig = CompatibleProvider | DemoProvider;

/** A key of this server: who has it, and the hex SHA-256 of its UTF-8. */
export interface KeyConfig {
  readonly name: string;
  readonly sha256: string;
}

/** The source of a config that no file gave. */
export const ENVIRONMENT = 'the environment';

/** Everything the server is told from outside, complete and checked. */
export interface Config {
  readonly listen: {
    readonly host: string;
    readonly port: number;
    /** Exact origins of web pages that may call. */
    readonly allowedOrigins: readonly string[];
    /** Names besides the listen address that may stand in `Host`. */
    readonly allowedHosts: readonly string[];
  };
  /** At least one. */
  readonly providers: readonly ProviderConfig[];
  readonly defaultModel?: string;
  /** No keys: only loopback is served, and any bearer is taken. */
  readonly auth: { readonly keys: readonly KeyConfig[] };
  /** `:memory:` or an absolute path. */
  readonly store: { readonly file: string };
  readonly limits: Limits;
  /** Where it came from, for a person: a path, or {@link ENVIRONMENT}. */
  readonly source: string;
  /** Sentences for the log at start: what was found, what was left aside and why. */
  readonly notices: readonly string[];
}
