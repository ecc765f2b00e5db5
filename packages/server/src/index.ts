/** A stand-alone agent server: read a config, start it, close it. */
export type { Config } from './config/config.ts';
export { ConfigError } from './config/config-error.ts';
export { resolveConfig } from './config/resolve.ts';
export type { ConfigPlace } from './config/resolve.ts';
export { createLog, logLevelOf, silentLog } from './observe/log.ts';
export type { Log, LogLevel } from './observe/log.ts';
export { startServer } from './server.ts';
export type { RunningServer, ServerParts } from './server.ts';
export { systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export type { Catalogue, Model, ModelEvent, ModelInfo, ModelRequest } from './model/port.ts';
