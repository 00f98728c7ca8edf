import type { IncomingMessage } from 'node:http';
import type { SecureContext } from 'node:tls';
import type { AddressRule } from './address-rule.ts';
import { connectTo, portOf } from './connect.ts';
import { toEgressError } from './egress-error.ts';
import { exchange, type Message } from './exchange.ts';
import { resolveHost } from './resolve.ts';
import type { Destination } from './url-rule.ts';

/** What the way out of this process is like. */
export type WayOut = {
  readonly isAllowed: AddressRule;
  readonly secureContext: SecureContext;
  /** Servers of the DNS (`host:port`); the system's when there are none. */
  readonly dnsServers: readonly string[];
};

/** What to send; `connectMs` bounds the look-up, and as long again the connection, `headMs` the wait for the head. */
export type Question = { readonly message: Message; readonly connectMs: number; readonly headMs: number; readonly signal: AbortSignal };

/**
 * Looks a host up, connects to an address of it that was checked, sends one request and answers with the head of the
 * answer; whoever reads its body destroys it. Throws `EgressError`, `EgressAbortedError`; nothing is left open then.
 */
export async function ask({ isAllowed, secureContext, dnsServers }: WayOut, { url, host }: Destination, question: Question): Promise<IncomingMessage> {
  const { message, connectMs, headMs, signal } = question;
  const addresses = await resolveHost(host, { servers: dnsServers, isAllowed, limitMs: connectMs, signal });
  const socket = await connectTo({ addresses, host, port: portOf(url), secureContext, isAllowed, limitMs: connectMs, signal });
  try {
    return await exchange(socket, { url, message, headMs, signal });
  } catch (error) {
    socket.destroy();
    // What Node says of a request it does not make repeats parts of it.
    throw toEgressError(error);
  }
}
