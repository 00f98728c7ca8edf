import { isIP } from 'node:net';
import type { AddressRule } from './address-rule.ts';
import { EgressError } from './egress-error.ts';

/** Longest URL, counted in code points (§8). */
const URL_CODE_POINTS_MAX = 2048;
/** Control characters, spaces and backslashes: a URL parser repairs them, and the repaired URL is another one. */
const REPAIRED = /[\p{Cc} \\]/u;
/** Scheme, slashes and authority as they were written. */
const PARTS = /^([a-z][a-z0-9+.-]*):(\/\/)?([^/?#]*)/i;
/** Names that mean this machine or this network wherever they are resolved. */
const LOCAL_NAMES = /^localhost$|\.(?:localhost|localdomain|local|internal|home\.arpa)$/;
/** Longest name and longest part of one (RFC 1035). */
const NAME_CHARS_MAX = 253;
const LABEL_CHARS_MAX = 63;
/** Ports that browsers refuse, because other protocols can be talked to through them ("bad port" of the fetch standard). */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989,
  990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Where a request goes. `host` is a name or an address without brackets and without a dot at its end. */
export type Destination = { readonly url: URL; readonly host: string };

/**
 * Checks a URL by its text alone, before anything is resolved (§8 URL import rules, D83, D93): https, at most 2048
 * characters, no credentials, nothing that a parser would repair, no port of another protocol, no name or literal
 * address that is not public. Throws `EgressError` `invalid_url`, `not_https` or `blocked_address`.
 */
export function checkUrl(text: string, isAllowed: AddressRule): Destination {
  if (Array.from(text).length > URL_CODE_POINTS_MAX || REPAIRED.test(text)) throw new EgressError('invalid_url');
  const [, scheme, slashes, authority = ''] = PARTS.exec(text) ?? [];
  if (scheme === undefined) throw new EgressError('invalid_url');
  if (scheme.toLowerCase() !== 'https') throw new EgressError('not_https');
  // The parser drops an empty user name without a word, and decodes what is encoded.
  if (slashes === undefined || authority === '' || /[@%]/.test(authority)) throw new EgressError('invalid_url');
  const url = parse(text);
  if (!url || (url.port !== '' && BAD_PORTS.has(Number(url.port)))) throw new EgressError('invalid_url');
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  checkHost(host, isAllowed);
  return { url, host };
}

/**
 * Where a redirect leads; its target is held to the same rules as the first URL. `location` is the header as Node
 * gives it. Throws `EgressError` as `checkUrl` does.
 */
export function checkRedirect(location: string, from: URL, isAllowed: AddressRule): Destination {
  const text = decodeHeader(location);
  if (REPAIRED.test(text)) throw new EgressError('invalid_url');
  if (PARTS.test(text)) return checkUrl(text, isAllowed);
  if (text.startsWith('//')) return checkUrl(`https:${text}`, isAllowed);
  const next = parse(text, from);
  if (!next) throw new EgressError('invalid_url');
  return checkUrl(next.href, isAllowed);
}

function checkHost(host: string, isAllowed: AddressRule): void {
  if (isIP(host) !== 0) {
    if (!isAllowed(host)) throw new EgressError('blocked_address');
    return;
  }
  // A name of one part is looked up in the local network, if at all.
  if (LOCAL_NAMES.test(host) || !host.includes('.')) throw new EgressError('blocked_address');
  const isName = host.length <= NAME_CHARS_MAX && host.split('.').every((label) => label !== '' && label.length <= LABEL_CHARS_MAX && !/^-|-$/.test(label));
  if (!isName) throw new EgressError('invalid_url');
}

/** Node reads headers byte by byte; many servers write UTF-8 there. */
function decodeHeader(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

function parse(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
