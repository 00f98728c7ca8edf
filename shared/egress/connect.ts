import { isIP } from 'node:net';
import { checkServerIdentity, connect, type SecureContext, type TLSSocket } from 'node:tls';
import { isSameAddress, type AddressRule } from './address-rule.ts';
import { EgressAbortedError, EgressError } from './egress-error.ts';

const HTTPS_PORT = 443;

/** Where to connect, and until when. `addresses` come from `resolveHost`; `host` is what the certificate must name. */
export type ConnectOptions = {
  readonly addresses: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly secureContext: SecureContext;
  readonly isAllowed: AddressRule;
  readonly limitMs: number;
  readonly signal: AbortSignal;
};

/**
 * A TLS connection to the first of the addresses that answers. It is made to the address itself, so nothing is looked
 * up again between check and connection, and the far end is compared once more before a byte of a request is sent.
 * The time is shared out among the addresses that are left. Throws `EgressError` `timeout`, `network`, `blocked_address`.
 */
export async function connectTo(options: ConnectOptions): Promise<TLSSocket> {
  const endMs = performance.now() + options.limitMs;
  let failure = new EgressError('network');
  for (const [index, address] of options.addresses.entries()) {
    const limitMs = (endMs - performance.now()) / (options.addresses.length - index);
    try {
      return await connectOnce(address, limitMs, options);
    } catch (error) {
      if (!(error instanceof EgressError) || error.reason === 'blocked_address') throw error;
      failure = error;
    }
  }
  throw failure;
}

function connectOnce(address: string, limitMs: number, { host, port, secureContext, isAllowed, signal }: ConnectOptions): Promise<TLSSocket> {
  if (signal.aborted) throw new EgressAbortedError();
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: address,
      port,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // An address has no server name indication.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      checkServerIdentity: (_servername, certificate) => checkServerIdentity(host, certificate),
    });
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
      act();
    };
    const fail = (error: Error): void =>
      settle(() => {
        // What it says while it is taken down is of no interest any more.
        socket.on('error', () => undefined);
        socket.destroy();
        reject(error);
      });
    const onError = (): void => fail(new EgressError('network'));
    const onAbort = (): void => fail(new EgressAbortedError());
    const timer = setTimeout(() => fail(new EgressError('timeout')), limitMs);
    signal.addEventListener('abort', onAbort);
    socket.on('error', onError);
    socket.once('secureConnect', () => {
      const far = socket.remoteAddress ?? '';
      if (isSameAddress(far, address) && isAllowed(far)) settle(() => resolve(socket));
      else fail(new EgressError('blocked_address'));
    });
  });
}

/** Port of a URL; the URL itself leaves out that of https. */
export function portOf(url: URL): number {
  return url.port === '' ? HTTPS_PORT : Number(url.port);
}
