import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a token says, sealed by its signature. */
export interface TokenClaims {
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** In front of every token, so that it is told from a key at a glance. */
const PREFIX = 'tandem1.';

/** Signs claims; nothing is stored, so every node with the same secret accepts the token. */
export function signToken(claims: TokenClaims, secret: Uint8Array): string {
  const body = Buffer.from(JSON.stringify([claims.owner, claims.expiresAt])).toString('base64url');
  return `${PREFIX}${body}.${signatureOf(body, secret).toString('base64url')}`;
}

/** The claims of a token that we signed and that has not expired at `now`; undefined for everything else. */
export function readToken(token: string, secret: Uint8Array, now: number): TokenClaims | undefined {
  if (!token.startsWith(PREFIX)) return undefined;
  const [body, signature, ...rest] = token.slice(PREFIX.length).split('.');
  if (!body || !signature || rest.length > 0) return undefined;
  const given = Buffer.from(signature, 'base64url');
  const expected = signatureOf(body, secret);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const [owner, expiresAt] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [string, number];
  return expiresAt > now ? { owner, expiresAt } : undefined;
}

function signatureOf(body: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(PREFIX).update(body).digest();
}
