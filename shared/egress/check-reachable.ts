import type { WayOut } from './ask.ts';
import { EgressError } from './egress-error.ts';
import { resolveHost } from './resolve.ts';
import { checkUrl } from './url-rule.ts';

/** Whether requests may be sent to a URL, and if not, why; `unresolved` when its name has no address. */
export type Reachability = 'reachable' | 'invalid_url' | 'not_https' | 'blocked_address' | 'unresolved';

/** Bound of the look, in ms, and who may give it up. */
export type ReachableOptions = { readonly limitMs: number; readonly signal: AbortSignal };

/**
 * Looks whether requests may be sent to a URL, by its text and by the addresses that its name has now (§4.6, D55).
 * Nothing is sent, and every delivery looks again. Throws `EgressAbortedError`.
 */
export async function checkReachable(wayOut: WayOut, url: string, { limitMs, signal }: ReachableOptions): Promise<Reachability> {
  try {
    const { host } = checkUrl(url, wayOut.isAllowed);
    await resolveHost(host, { servers: wayOut.dnsServers, isAllowed: wayOut.isAllowed, limitMs, signal });
    return 'reachable';
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const { reason } = error;
    // The rest is what the DNS says, or does not say in time.
    return reason === 'invalid_url' || reason === 'not_https' || reason === 'blocked_address' ? reason : 'unresolved';
  }
}
