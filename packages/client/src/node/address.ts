import { innerNetworks } from '@tandem/protocol';
import { BlockList, isIP } from 'node:net';

const PRIVATE = new BlockList();
for (const network of innerNetworks) PRIVATE.addSubnet(...network);

/** Whether an IP address is one of this machine, of a private network, or of no public use. What is no address counts as one. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  // IPv4 in IPv6 clothes, in either spelling, is judged by what it wraps; the list does that by itself for the mapped form.
  const family = isIP(plain);
  if (family === 0) return true;
  return PRIVATE.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}
