import { BlockList, isIP } from 'node:net';

/** Addresses that lead to this machine or its own network, to what a cloud tells its machines, or nowhere that a provider could be. */
const INNER = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // what Azure tells its machines, at an address that looks public
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  INNER.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::', 96], // unspecified, loopback, and IPv4 in its oldest clothes
  ['::ffff:0:0:0', 96], // IPv4 as translators within a network write it
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  INNER.addSubnet(network, bits, 'ipv6');

/** Addresses of the link alone, where clouds tell their machines their own keys: no name may lead there. */
const LINK = new BlockList();
LINK.addSubnet('169.254.0.0', 16, 'ipv4');
LINK.addAddress('168.63.129.16', 'ipv4');
LINK.addAddress('100.100.100.200', 'ipv4');
LINK.addAddress('192.0.0.192', 'ipv4');
LINK.addSubnet('fe80::', 10, 'ipv6');
LINK.addAddress('fd00:ec2::254', 'ipv6');

/** Whether an IP address is one of this machine, of a private network, or of no public use. What is no address counts as one. */
export const isInnerAddress = (address: string): boolean => isIn(INNER, address);

/** Whether an IP address is one of the link alone or of a cloud's metadata. What is no address counts as one. */
export const isLinkAddress = (address: string): boolean => isIn(LINK, address);

/** A list knows IPv4 in IPv6 clothes for what it is, in either spelling. */
function isIn(list: BlockList, address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain);
  return family === 0 || list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}
