import { isIPv4, isIPv6 } from 'node:net';
import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';

const IPV6_GROUPS = 8;
/** Groups of the /64 that one subscriber has as a whole; within it he may choose any address for each request (D61). */
const NETWORK_GROUPS = 4;
/** Where IPv4 addresses are written as IPv6 ones: `::ffff:` and 32 more bits. */
const MAPPED = ['0', '0', '0', '0', '0', 'ffff'] as const;
/** A connection that is gone already has no address. */
const NO_ADDRESS = 'none';

/**
 * How the address of a client is told: that of its connection, or behind `trustedProxies` the rightmost one of
 * `X-Forwarded-For` that is no trusted proxy, because everything left of it was written by whoever is not trusted.
 * IPv4 addresses come in their own notation, IPv6 ones as their /64 (D61).
 */
export function makeAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return (request) => {
    if (request.socket.remoteAddress === undefined) return NO_ADDRESS;
    // From the connection outwards. A hop that is no address counts as the proxy that passed it on.
    const hops = proxyAddr.all(request, isTrusted).map(canonicalAddress);
    return hops.findLast((address) => address !== undefined) ?? NO_ADDRESS;
  };
}

/** Whether many clients may stand behind an address: a trusted proxy, or another program on this machine. */
export function makeProxyCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  const isTrusted = proxyAddr.compile(['loopback', ...trustedProxies]);
  return (address) => isTrusted(address, 0);
}

/** One notation for an IPv4 address however it is written, and for an IPv6 address its /64; undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  const address = text.replace(/%.*$/, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const groups = groupsOf(address);
  if (MAPPED.every((group, index) => groups[index] === group)) return groups.slice(MAPPED.length).flatMap(bytesOf).join('.');
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The eight groups of a valid IPv6 address in lower case without leading zeros, as the URL standard writes them. */
function groupsOf(address: string): string[] {
  const [left = '', right = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [left, right].map((part) => (part === '' ? [] : part.split(':')));
  const known = [...(before ?? []), ...(after ?? [])];
  return [...(before ?? []), ...Array.from({ length: IPV6_GROUPS - known.length }, () => '0'), ...(after ?? [])];
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}
