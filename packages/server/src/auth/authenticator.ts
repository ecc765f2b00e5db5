import { createHash, timingSafeEqual } from 'node:crypto';
import type { Fault } from '@tandem/protocol';
import { fault } from '@tandem/protocol';
import type { Clock } from '../clock.ts';
import type { KeyConfig } from '../config/config.ts';
import { readToken, signToken } from './token.ts';

/** Knows who asks. Cheap enough for every request: a stock SDK exchanges its key several times in one run. */
export interface Authenticator {
  /** Gives a token for a good key, or for a token that is still good. */
  exchange(bearer: string | undefined): { accessToken: string } | Fault;
  /**
   * Who sends this bearer: a key, or a token from {@link Authenticator.exchange}. `owner` keeps what belongs to one caller from
   * the others.
   * @throws Fault `unauthenticated`, without the bearer in its text.
   */
  authenticate(bearer: string | undefined): { owner: string };
}

export interface AuthenticatorOptions {
  /** Without any, every bearer is taken, and none at all: the server is then reached from its own machine alone. */
  readonly keys: readonly KeyConfig[];
  /** Signs tokens; at least 32 bytes, the same on all nodes. */
  readonly secret: Uint8Array;
  readonly clock: Clock;
}

/** How long a token lives: longer than a turn, short enough that a withdrawn key is soon useless. */
export const TOKEN_MS = 60 * 60 * 1000;

/** The owner of everything on a server without keys. */
const LOCAL_OWNER = 'local';

/** The longest bearer that is looked at; nobody's key comes near. */
const BEARER_CHARACTERS = 4_096;

export function createAuthenticator({ keys, secret, clock }: AuthenticatorOptions): Authenticator {
  if (secret.length < 32) throw new RangeError('the secret of the authenticator must have 32 bytes or more');
  const known = keys.map(key => ({ name: key.name, digest: Buffer.from(key.sha256, 'hex') }));

  const ownerOf = (bearer: string | undefined): string | undefined => {
    if (known.length === 0) return LOCAL_OWNER;
    if (bearer === undefined || bearer === '' || bearer.length > BEARER_CHARACTERS) return undefined;
    const claims = readToken(bearer, secret, clock.now());
    if (claims) return known.some(key => key.name === claims.owner) ? claims.owner : undefined;
    const digest = createHash('sha256').update(bearer, 'utf8').digest();
    let owner: string | undefined;
    // All are compared, so that the time does not tell which one was near.
    for (const key of known)
      if (key.digest.length === digest.length && timingSafeEqual(key.digest, digest)) owner = key.name;
    return owner;
  };

  return {
    exchange(bearer) {
      const owner = ownerOf(bearer);
      if (owner === undefined) return refuse(bearer);
      return { accessToken: signToken({ owner, expiresAt: clock.now() + TOKEN_MS }, secret) };
    },
    authenticate(bearer) {
      const owner = ownerOf(bearer);
      if (owner === undefined) throw refuse(bearer);
      return { owner };
    },
  };
}

function refuse(bearer: string | undefined): Fault {
  return bearer === undefined || bearer === ''
    ? fault('unauthenticated', 'The request carries no key. Send one as "authorization: Bearer KEY".')
    : fault(
        'unauthenticated',
        'The key or token is not one of this server, or it has expired. Check the key that the client uses.',
      );
}
