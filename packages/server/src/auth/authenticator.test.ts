import { createHash } from 'node:crypto';
import { Fault } from '@tandem/protocol';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { createAuthenticator, TOKEN_MS } from './authenticator.ts';

const SECRET = new Uint8Array(32).fill(7);
const hash = (key: string) => createHash('sha256').update(key).digest('hex');
const KEYS = [
  { name: 'ann', sha256: hash('key-of-ann') },
  { name: 'bob', sha256: hash('Schlüssel') },
];

function setUp(keys = KEYS, secret = SECRET) {
  let now = 1_000;
  const clock: Clock = { now: () => now, after: () => () => {} };
  const authenticator = createAuthenticator({ keys, secret, clock });
  const tokenFor = (bearer: string) => {
    const exchanged = authenticator.exchange(bearer);
    if (exchanged instanceof Fault) throw exchanged;
    return exchanged.accessToken;
  };
  return { authenticator, tokenFor, advance: (ms: number) => (now += ms) };
}
const refused = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    return error as Fault;
  }
  throw new Error('it was accepted');
};

describe('with keys', () => {
  test('a key is its own bearer, and is exchanged for a token of its owner', () => {
    const { authenticator, tokenFor } = setUp();
    expect(authenticator.authenticate('key-of-ann')).toEqual({ owner: 'ann' });
    expect(authenticator.authenticate('Schlüssel')).toEqual({ owner: 'bob' });
    expect(authenticator.authenticate(tokenFor('Schlüssel'))).toEqual({ owner: 'bob' });
    expect(authenticator.authenticate(tokenFor(tokenFor('key-of-ann')))).toEqual({ owner: 'ann' });
  });

  test('a token is good for an hour, on every server with the same secret, and on no other', () => {
    const { authenticator, tokenFor, advance } = setUp();
    const token = tokenFor('key-of-ann');
    expect(setUp().authenticator.authenticate(token)).toEqual({ owner: 'ann' });
    expect(() => setUp(KEYS, new Uint8Array(32)).authenticator.authenticate(token)).toThrow(Fault);
    advance(TOKEN_MS - 1);
    expect(authenticator.authenticate(token)).toEqual({ owner: 'ann' });
    advance(1);
    expect(() => authenticator.authenticate(token)).toThrow(Fault);
  });

  test('a token of a key that was withdrawn is refused', () => {
    const token = setUp().tokenFor('key-of-ann');
    expect(() => setUp([KEYS[1]!]).authenticator.authenticate(token)).toThrow(Fault);
  });

  test.each([
    '',
    'wrong',
    'tandem1.',
    'tandem1.x.y',
    'tandem1.W10.AAAA',
    'tandem1.a.b.c',
    hash('key-of-ann'),
    'x'.repeat(100_000),
  ])('the bearer %.20s is refused without being repeated', bearer => {
    const { authenticator } = setUp();
    const failure = refused(() => authenticator.authenticate(bearer));
    expect(failure).toMatchObject({ name_: 'unauthenticated', code: 'unauthenticated', retryable: false });
    if (bearer !== '') expect(failure.detail).not.toContain(bearer);
    expect(authenticator.exchange(bearer)).toBeInstanceOf(Fault);
  });

  test('a token whose owner was changed is refused', () => {
    const { authenticator, tokenFor } = setUp();
    const [prefix, , signature] = tokenFor('key-of-ann').split('.');
    const body = Buffer.from(JSON.stringify(['bob', 9e12])).toString('base64url');
    expect(() => authenticator.authenticate(`${prefix}.${body}.${signature}`)).toThrow(Fault);
  });

  test('no bearer is told how to send one', () => {
    expect(refused(() => setUp().authenticator.authenticate(undefined)).detail).toContain('authorization: Bearer');
  });
});

test('without keys every bearer is taken, and none, all as one owner', () => {
  const { authenticator, tokenFor } = setUp([]);
  expect(authenticator.authenticate(undefined)).toEqual({ owner: 'local' });
  expect(authenticator.authenticate('anything')).toEqual({ owner: 'local' });
  expect(authenticator.authenticate(tokenFor('anything'))).toEqual({ owner: 'local' });
});

test('a short secret is a mistake of the caller', () => {
  expect(() => setUp(KEYS, new Uint8Array(8))).toThrow(RangeError);
});
