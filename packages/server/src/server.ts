import { createAuthenticator } from './auth/authenticator.ts';
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { listen } from './http/listen.ts';
import type { TlsMaterial } from './http/listen.ts';
import { routes } from './http/routes.ts';
import type { Identity } from './identity.ts';
import { systemIdentity } from './identity.ts';
import { DRAIN_MS, LAST_FRAMES_MS } from './limits.ts';
import { createCatalogue, modelOf } from './model/catalogue.ts';
import type { LookupAll } from './model/guarded-fetch.ts';
import { withOwnKeys } from './model/own-key.ts';
import { withRoutes } from './model/route.ts';
import type { Catalogue } from './model/port.ts';
import type { Log } from './observe/log.ts';
import { silentLog } from './observe/log.ts';
import type { Store } from './store/port.ts';
import { budgetsOf } from './usage/budget.ts';
import { Meter } from './usage/meter.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import { Registry } from './stream/registry.ts';

/** What a server is made of besides its config; all of it has a default, tests bring their own. */
export interface ServerParts {
  readonly clock?: Clock;
  readonly identity?: Identity;
  readonly log?: Log;
  readonly catalogue?: Catalogue;
  readonly store?: Store;
  /** Finds the addresses of a host that a run brought; the system's own resolver when absent. */
  readonly lookup?: LookupAll;
  /** With it the port speaks TLS: HTTP/2 and HTTP/1.1 by ALPN. */
  readonly tls?: TlsMaterial | undefined;
}

export interface RunningServer {
  /** Where it listens, with the port that was taken. */
  readonly url: string;
  readonly catalogue: Catalogue;
  /** What a person should know about how the config was understood. */
  readonly notices: readonly string[];
  /** Streams that are open or remembered, and runs at work. */
  readonly load: { readonly streams: number; readonly runs: number };
  /** Takes no new runs, lets the present ones end for up to `drainMs` (default 30 s), then goes. */
  close(options?: { drainMs?: number }): Promise<void>;
}

/**
 * Starts a server: the one place where adapters are named and everything is put together. Nothing listens before everything else
 * stands, so a broken config or a taken port leaves nothing half started.
 * @throws ConfigError, or the system's error when the port cannot be had.
 */
export async function startServer(config: Config, parts: ServerParts = {}): Promise<RunningServer> {
  const { clock = systemClock, identity = systemIdentity, log = silentLog } = parts;
  const started = parts.catalogue
    ? { catalogue: parts.catalogue, notices: [] }
    : await createCatalogue(config, { clock });
  const routed = withRoutes(started.catalogue, config.routes ?? {}, config.defaultModel);
  const catalogue = withOwnKeys(routed, {
    rule: config.credentials ?? 'allow',
    providers: config.providers,
    make: modelOf,
    clock,
    lookup: parts.lookup,
  });
  const onSwept = (swept: { freedBytes: number; keptBytes: number }) =>
    log.info(swept, 'the cache of blobs was full; the longest unused are gone');
  const onSetAside = (path: string) =>
    log.warn(
      { path },
      'the store was broken and is set aside; a new one has begun, and clients give again what they have',
    );
  const store = parts.store ?? openSqliteStore({ file: config.store.file, clock, onSwept, onSetAside });
  const { messageBytes, placeholderSeconds, readerGraceSeconds } = config.limits;
  const budgetOf = budgetsOf(config);
  const registry = new Registry({
    services: { catalogue, store, clock, identity, log, callLimits: config.limits, budgetOf },
    limits: { messageBytes, placeholderMs: placeholderSeconds * 1000, readerGraceMs: readerGraceSeconds * 1000 },
  });
  let isReady = true;
  const { host, port, allowedOrigins, allowedHosts } = config.listen;
  const handler = routes({
    registry,
    authenticator: createAuthenticator({ keys: config.auth.keys, secret: store.secret, clock }),
    catalogue,
    store,
    door: { host, allowedOrigins, allowedHosts, hasKeys: config.auth.keys.length > 0 },
    log,
    clock,
    meter: new Meter({ book: store.usage, budgetOf, clock, log }),
    messageBytes,
    isReady: () => isReady,
  });
  const listener = await listen({
    host,
    port,
    tls: parts.tls,
    handler,
    onError: error => log.error({ error: error.message }, 'the listener failed'),
  }).catch(async (error: unknown) => {
    registry.stop();
    await store.close();
    throw error;
  });
  return {
    url: listener.url,
    catalogue,
    notices: [...config.notices, ...started.notices],
    get load() {
      return { streams: registry.streamCount, runs: registry.runCount };
    },
    async close({ drainMs = DRAIN_MS } = {}) {
      isReady = false;
      // runs that go on need the answers of their clients, which may come on new connections
      listener.retire();
      await registry.drain(drainMs);
      // the end frames of the last streams are on their way: give them a moment, then cut what is left
      if (drainMs > 0) await withinMs(registry.untilRead(), LAST_FRAMES_MS);
      const closed = listener.close();
      await withinMs(closed, 500);
      listener.destroy();
      await closed;
      if (!parts.store) await store.close();
    },
  };
}

/** Waits for a promise, in real time and no longer than this. */
async function withinMs(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
