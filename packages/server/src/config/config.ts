import type { Limits } from './limits.ts';
import type { RemoteType } from './provider-types.ts';
import type { ModelEntry } from './schema.ts';
import type { Secret } from './secret.ts';

/** A provider that is called over HTTP. */
export interface RemoteProvider {
  readonly name: string;
  readonly type: RemoteType;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey?: Secret;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Empty: the provider is asked for its models at start. */
  readonly models: readonly ModelEntry[];
  /** Most calls at one moment; further ones wait. Absent: as many as come. */
  readonly concurrency?: number;
  /** Where and as whom Amazon Bedrock is called, when not with an `apiKey`. */
  readonly aws?: AwsAccess;
}

/** A signer of requests to AWS. */
export interface AwsAccess {
  readonly region: string;
  readonly accessKeyId?: Secret;
  readonly secretAccessKey?: Secret;
  readonly sessionToken?: Secret;
}

/** The built-in model that needs no provider. */
interface DemoProvider {
  readonly name: string;
  readonly type: 'demo';
}

export type ProviderConfig = RemoteProvider | DemoProvider;

/** A key of this server: who has it, and the hex SHA-256 of its UTF-8. */
export interface KeyConfig {
  readonly name: string;
  readonly sha256: string;
  /** Whether nobody gave it this name, so that no text for a person shows it. */
  readonly isUnnamed?: boolean;
  /** What model calls of this key may cost; absent: the budget for every key, if there is one. */
  readonly budget?: BudgetConfig;
}

/** How much may be spent in a day or a month of UTC. */
export interface BudgetConfig {
  readonly amount: number;
  /** ISO 4217; only calls whose price is in it are counted. */
  readonly currency: string;
  readonly per: 'day' | 'month';
}

/**
 * What a server does with credentials that runs bring (§6): takes those for any public address, takes none, or takes those for
 * the hosts that are named (`host`, `host:port`, `*.domain`).
 */
export type CredentialsRule = 'allow' | 'forbid' | { readonly hosts: readonly string[] };

/** A name behind which several models stand. */
export interface RouteConfig {
  readonly models: readonly {
    /** A model of the config, by any of its names. */
    readonly model: string;
    /** How often it comes first among those of its priority; 1 when absent. */
    readonly weight?: number | undefined;
    /** 1 is asked before 2; 1 when absent. */
    readonly priority?: number | undefined;
  }[];
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
  /** By their names. */
  readonly routes?: Readonly<Record<string, RouteConfig>>;
  /** No keys: only loopback is served, and any bearer is taken. */
  readonly auth: { readonly keys: readonly KeyConfig[] };
  /** `:memory:` or an absolute path. */
  readonly store: { readonly file: string };
  readonly limits: Limits;
  /** The budget of every key that has none of its own, and of the one owner of a server without keys. */
  readonly budget?: BudgetConfig;
  /** What is done with credentials that runs bring (§6). Absent: they may go to any public address. */
  readonly credentials?: CredentialsRule;
  /** Where it came from, for a person: a path, or {@link ENVIRONMENT}. */
  readonly source: string;
  /** Sentences for the log at start: what was found, what was left aside and why. */
  readonly notices: readonly string[];
}
