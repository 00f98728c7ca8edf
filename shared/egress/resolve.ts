import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AddressRule } from './address-rule.ts';
import { EgressAbortedError, EgressError } from './egress-error.ts';
import { ADDRESSES_TRIED_MAX } from './limits.ts';

/** Time for one question to a server of the DNS, in ms, and how often it is asked; `limitMs` of a look-up ends both. */
const QUESTION_MS = 2_000;
const QUESTIONS_MAX = 2;

/** How a host is looked up: `servers` (`host:port`) instead of the system's when there are any. */
export type ResolveOptions = { readonly servers: readonly string[]; readonly isAllowed: AddressRule; readonly limitMs: number; readonly signal: AbortSignal };

/**
 * Addresses to which a request for `host` may be sent, IPv4 first. Every address of the answer must be allowed, or the
 * answer could lead elsewhere at the next look (§8 rule 3). It asks the DNS itself: the system's own look-up blocks
 * threads that file access needs, and reads local files. Throws `EgressError` `blocked_address`, `timeout`, `network`.
 */
export async function resolveHost(host: string, options: ResolveOptions): Promise<readonly string[]> {
  if (isIP(host) !== 0) {
    if (!options.isAllowed(host)) throw new EgressError('blocked_address');
    return [host];
  }
  const addresses = await lookUp(host, options);
  if (!addresses.every(options.isAllowed)) throw new EgressError('blocked_address');
  return addresses.slice(0, ADDRESSES_TRIED_MAX);
}

async function lookUp(host: string, { servers, limitMs, signal }: ResolveOptions): Promise<readonly string[]> {
  // One for each look-up, because giving up ends every question of a resolver.
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: QUESTIONS_MAX });
  if (servers.length > 0) resolver.setServers(servers);
  let isOver = false;
  const giveUp = (): void => resolver.cancel();
  const timer = setTimeout(() => {
    isOver = true;
    giveUp();
  }, limitMs);
  signal.addEventListener('abort', giveUp);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (signal.aborted) throw new EgressAbortedError();
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw new EgressError(isOver || answers.some((answer) => answer.status === 'rejected' && isTimeout(answer.reason)) ? 'timeout' : 'network');
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ETIMEOUT';
}
