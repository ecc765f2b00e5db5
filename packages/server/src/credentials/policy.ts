import { isIP } from 'node:net';
import { fault } from '@tandem/protocol';
import type { Fault } from '@tandem/protocol';
import type { CredentialsRule } from '../config/config.ts';
import { isInnerAddress, isLinkAddress } from './address.ts';

/**
 * Judges where a run's own credentials may go. A host that the operator names himself, without a star, may be at a private
 * address; any other must be at a public one. Addresses of the link and of a cloud's metadata are reached only when they are
 * named themselves.
 */
export class CredentialsPolicy {
  readonly #rule: CredentialsRule;
  readonly #named: readonly string[];

  /** @param providers addresses of the configured providers: keys for these may go to their hosts and ports, wherever they are */
  constructor(rule: CredentialsRule, providers: readonly string[] = []) {
    this.#rule = rule;
    const listed = typeof rule === 'object' ? rule.hosts : [];
    const own = providers.filter(address => URL.canParse(address)).map(address => hostAndPort(new URL(address)));
    this.#named = [...listed.map(host => host.toLowerCase().replace(/[[\]]/g, '')), ...own];
  }

  /** @throws Fault `credentials_refused` when runs may bring no credentials at all. */
  checkAllowed(): void {
    if (this.#rule === 'forbid') {
      throw refuse(
        'This server takes no keys of its users (credentials: forbid). Leave the key of the provider out of the client and use the models of the server.',
      );
    }
  }

  /**
   * Judges an address before a byte goes there.
   * @throws Fault `credentials_refused` that names the host and what would allow it.
   */
  checkUrl(url: URL): void {
    this.checkAllowed();
    const host = hostOf(url);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw refuse(`The address of the provider begins with ${url.protocol}; only https: and http: are called.`);
    }
    if (url.username !== '' || url.password !== '' || url.search !== '') {
      throw refuse(
        `The address at ${host} carries a user name, a password or a query. Give the address alone, and the key as the key.`,
      );
    }
    if (typeof this.#rule === 'object' && !this.#isNamed(url) && !this.#hasStar(url)) {
      throw refuse(
        `This server sends keys of its users to ${this.#rule.hosts.join(', ')} alone, and ${host} is none of these. credentials.hosts in its config adds hosts.`,
      );
    }
    if (isIP(host) !== 0) this.checkAddress(url, host);
    else if (url.protocol === 'http:' && !this.#isNamed(url)) {
      throw refuse(
        `A key goes to ${host} only over https:. credentials.hosts in the config of the server can name it.`,
      );
    }
  }

  /**
   * Judges the address that a host turned out to have; the connection must go to this very address.
   * @throws Fault `credentials_refused`
   */
  checkAddress(url: URL, address: string): void {
    const host = hostOf(url);
    const isItself = isIP(host) !== 0;
    if (this.#isNamed(url) && (isItself || !isLinkAddress(address))) return;
    if (!isInnerAddress(address)) return;
    throw refuse(
      `${host} is ${isItself ? 'an address' : 'at an address'} of this machine, of a private network or of no public use, and a run may not send the server there. ` +
        'If it is meant, name it under credentials.hosts in the config of the server.',
    );
  }

  #isNamed(url: URL): boolean {
    const host = hostOf(url);
    return this.#named.some(name => name === host || name === hostAndPort(url));
  }

  #hasStar(url: URL): boolean {
    const host = hostOf(url);
    return this.#named.some(name => name.startsWith('*.') && host.endsWith(name.slice(1)) && isIP(host) === 0);
  }
}

/** The host of an address as names and addresses are compared: small letters, without brackets and without the root's dot. */
export function hostOf(url: URL): string {
  return url.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

const hostAndPort = (url: URL) =>
  `${hostOf(url)}:${url.port !== '' ? url.port : url.protocol === 'https:' ? '443' : '80'}`;

function refuse(detail: string): Fault {
  return fault('credentials_refused', detail);
}
