import { BlockList, isIP } from 'node:net';

/** Ranges that are not public although they look like other IPv4 addresses; the last three columns of IANA's registry. */
const NOT_PUBLIC_IPV4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8',
  // Answers on every virtual machine of one cloud, from inside public space.
  '168.63.129.16/32',
  '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24',
  '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
];
/** All IPv6 addresses that are routed in public; IPv4 inside IPv6 (mapped, NAT64, compatible) lies outside of it. */
const GLOBAL_IPV6 = ['2000::/3'];
/** Parts of it that are not public, or lead to an IPv4 address (Teredo, 6to4). */
const NOT_PUBLIC_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48'];

const notPublicIpv4 = toBlockList(NOT_PUBLIC_IPV4);
const globalIpv6 = toBlockList(GLOBAL_IPV6);
const notPublicIpv6 = toBlockList(NOT_PUBLIC_IPV6);

/** Tells of an address, in the spelling that the system gives it, whether outbound requests may go there. */
export type AddressRule = (address: string) => boolean;

/**
 * The rule of §8: public addresses only, and `allowedRanges` (CIDR), which an operator excepts from it
 * (`OUTBOUND_ALLOWED_ADDRESSES`). An IPv4 address inside an IPv6 one is never excepted.
 */
export function createAddressRule(allowedRanges: readonly string[]): AddressRule {
  const allowedIpv4 = toBlockList(allowedRanges.filter((range) => familyOf(range) === 4));
  const allowedIpv6 = toBlockList(allowedRanges.filter((range) => familyOf(range) === 6));
  return (address) => {
    switch (isIP(address)) {
      case 4:
        return !notPublicIpv4.check(address, 'ipv4') || allowedIpv4.check(address, 'ipv4');
      case 6:
        // A zone (`%eth0`) names a link of this machine.
        return !address.includes('%') && (isPublicIpv6(address) || allowedIpv6.check(address, 'ipv6'));
      default:
        return false;
    }
  };
}

/** True when two spellings are the same address. */
export function isSameAddress(one: string, other: string): boolean {
  const family = isIP(one);
  if (family === 0 || family !== isIP(other)) return false;
  return toBlockList([one]).check(other, family === 4 ? 'ipv4' : 'ipv6');
}

function isPublicIpv6(address: string): boolean {
  return globalIpv6.check(address, 'ipv6') && !notPublicIpv6.check(address, 'ipv6');
}

/** `ranges` are addresses or CIDR ranges. */
function toBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const isIpv4 = isIP(address) === 4;
    list.addSubnet(address, Number(bits ?? (isIpv4 ? 32 : 128)), isIpv4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

function familyOf(range: string): number {
  return isIP(range.split('/')[0] ?? '');
}
