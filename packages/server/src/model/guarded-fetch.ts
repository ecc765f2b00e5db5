import { lookup as lookupHost } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { Fault, fault } from '@tandem/protocol';
import type { CredentialsPolicy } from '../credentials/policy.ts';
import { hostOf } from '../credentials/policy.ts';
import { CONNECT_MS, HTTP_SILENCE_MS } from './limits.ts';
import type { Fetch } from './provider-fetch.ts';

/** Asks for all addresses of a host. */
export type LookupAll = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** Redirects that are followed: an honest provider has one at most, from one spelling of its address to the other. */
const REDIRECTS = 3;

const lookupAll: LookupAll = (host, done) => lookupHost(host, { all: true, order: 'ipv4first' }, done);

/**
 * A fetch for addresses that a request brought. The policy judges every address before a byte is sent: the host, each address it
 * resolves to (the connection goes to the very ones that were judged, so a name that changes its mind gains nothing), and every
 * redirect. A redirect to another host is not followed at all: the key would go to somebody it was not given for. Proxies of the
 * environment are passed by, since they would resolve the name themselves.
 *
 * @throws Fault `credentials_refused`, as the cause of the fetch's own error where the connection was judged
 */
export function createGuardedFetch(policy: CredentialsPolicy, lookup: LookupAll = lookupAll): Fetch {
  let loading: Promise<GuardedSend> | undefined;
  return async (address, init) => {
    let url = new URL(address);
    for (let redirects = 0; ; redirects++) {
      policy.checkUrl(withoutQuery(url));
      loading ??= openGuardedSend(policy, lookup);
      const response = await (await loading)(url, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      url = checkRedirect(url, next, response.status, redirects);
    }
  };
}

/** The query of a call is the adapter's own (`?alt=sse`); what the request brought was judged without one. */
function withoutQuery(url: URL): URL {
  const bare = new URL(url);
  bare.search = '';
  return bare;
}

function checkRedirect(from: URL, to: URL | undefined, status: number, redirects: number): URL {
  const why =
    to === undefined
      ? 'to no address'
      : hostOf(to) !== hostOf(from)
        ? 'to another host, and the key was given for this one alone'
        : from.protocol === 'https:' && to.protocol !== 'https:'
          ? 'away from https:'
          : status !== 307 && status !== 308
            ? `by ${status}, which drops what was asked`
            : redirects >= REDIRECTS
              ? `more than ${REDIRECTS} times`
              : undefined;
  if (to !== undefined && why === undefined) return to;
  throw fault(
    'credentials_refused',
    `${hostOf(from)} redirects ${why}. Give the address that it redirects to, if it can be trusted.`,
  );
}

/** The form in which a socket asks for the addresses of a host. */
type LookupFunction = (
  host: string,
  wanted: { all?: boolean | undefined },
  done: (error: Error | null, found: string | LookupAddress[], family?: number) => void,
) => void;

type GuardedSend = (url: URL, init: RequestInit) => Promise<Response>;

/** Keep-alive connections are shared by all runs of the server: each was judged when it was made, by the one policy that there is. */
async function openGuardedSend(policy: CredentialsPolicy, lookup: LookupAll): Promise<GuardedSend> {
  const undici = await import('undici');
  const agent = new undici.Agent({
    headersTimeout: HTTP_SILENCE_MS,
    bodyTimeout: HTTP_SILENCE_MS,
    // a connector for each connection, since only it knows the port beside the name; addresses as such are never looked up
    connect({ protocol, hostname, port, ...options }, callback) {
      const origin = () => new URL(`${protocol}//${hostname}${port ? `:${port}` : ''}`);
      const connector = undici.buildConnector({
        timeout: CONNECT_MS,
        allowH2: false,
        lookup: judgedLookup(origin, policy, lookup),
      });
      connector({ protocol, hostname, port, ...options }, callback);
    },
  });
  return async (url, init) => {
    try {
      // undici's types differ from the runtime's in name only
      return (await undici.fetch(url, { ...init, dispatcher: agent } as Parameters<
        typeof undici.fetch
      >[1])) as unknown as Response;
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  };
}

/** A lookup that gives the addresses of a host only when the policy takes each of them. */
function judgedLookup(origin: () => URL, policy: CredentialsPolicy, lookup: LookupAll): LookupFunction {
  return (host, wanted, done) =>
    lookup(host, (error, found) => {
      try {
        if (error) throw error;
        if (found.length === 0) throw new Error(`${host} has no address`);
        for (const { address } of found) policy.checkAddress(origin(), address);
      } catch (refused) {
        done(refused as Error, []);
        return;
      }
      if (wanted.all) done(null, found);
      else done(null, found[0]!.address, found[0]!.family);
    });
}

/** The policy's own words inside the error of a connection. */
function refusalIn(error: unknown): Fault | undefined {
  for (let inner = error, depth = 0; depth < 8 && inner instanceof Error; depth++) {
    if (inner instanceof Fault) return inner;
    inner = inner.cause;
  }
  return undefined;
}
