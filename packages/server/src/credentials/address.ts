import { innerNetworks } from '@tandem/protocol';
import { BlockList, isIP } from 'node:net';

const INNER = new BlockList();
for (const network of innerNetworks) INNER.addSubnet(...network);

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
