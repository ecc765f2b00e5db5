/** A stand-alone agent server: read a config, start it, close it. */
export type { Config } from './config/config.ts';
export { ConfigError } from './config/config-error.ts';
export { keyHeaders, providerTypeOf } from './config/provider-types.ts';
export { logLevelOf } from './config/log-level.ts';
export { resolveConfig } from './config/resolve.ts';
export type { ConfigPlace } from './config/resolve.ts';
export { createLog, silentLog } from './observe/log.ts';
export type { Log, LogLevel } from './observe/log.ts';
export { loadRunParts } from './run/parts.ts';
export { startServer } from './server.ts';
export type { RunningServer, ServerParts } from './server.ts';
export { createCatalogue } from './model/catalogue.ts';
export { connectionWords } from './model/connection-words.ts';
export { namesModels } from './model/named-models.ts';
export { systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export type { Catalogue, Model, ModelEvent, ModelInfo, ModelPrice, ModelRequest } from './model/port.ts';
