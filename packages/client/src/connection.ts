import type { Transport } from './transport.ts';

/** The paths of the protocol below a server's base URL (R1). */
export const paths = {
  run: '/agent.v1.AgentService/Run',
  runSse: '/agent.v1.AgentService/RunSSE',
  bidiAppend: '/aiserver.v1.BidiService/BidiAppend',
  models: '/v1/models',
} as const;

/** Where the server is and what every request to it carries. */
export interface Connection {
  transport: Transport;
  /** Without a slash at its end. */
  baseUrl: string;
  /** Headers of every request, the bearer included. */
  headers: Record<string, string>;
}

/** The version that the client names itself with (R9). */
const CLIENT_VERSION = 'tandem-0.1.0';

/** Makes a connection out of what an embedder gives. */
export function makeConnection(options: {
  transport: Transport;
  baseUrl: string;
  apiKey?: string | undefined;
  headers?: Record<string, string> | undefined;
}): Connection {
  const url = new URL(options.baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`the server's address has to begin with http:// or https://, not ${url.protocol}//`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError("the server's address holds a user name or password; give the key as apiKey instead");
  }
  return {
    transport: options.transport,
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    headers: {
      ...options.headers,
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
      'x-cursor-client-type': 'tandem',
      'x-cursor-client-version': CLIENT_VERSION,
    },
  };
}
