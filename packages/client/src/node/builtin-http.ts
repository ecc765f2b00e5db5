/**
 * The modules of HTTP/1.1, loaded by call and not by import: an import reads every export, and one of `node:http` is a getter that loads all of
 * `fetch`, which takes as long as Node itself to start.
 */
export const loadHttp = () => process.getBuiltinModule('node:http');
export const loadHttps = () => process.getBuiltinModule('node:https');
