import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { EgressAbortedError, EgressError } from './egress-error.ts';
import type { Header } from './header-rules.ts';
import { HEAD_BYTES_MAX, INTERIM_ANSWERS_MAX } from './limits.ts';

/** What is sent: a GET, or with a body a POST. `headers` are all but those that say where it goes and where it ends. */
export type Message = { readonly headers: readonly Header[]; readonly body?: Uint8Array };

/** A request on a connection that was made for it. */
export type ExchangeOptions = { readonly url: URL; readonly message: Message; readonly headMs: number; readonly signal: AbortSignal };

/**
 * Sends a request and answers with the head of the answer; the body is still to come, and whoever reads it destroys it.
 * It keeps no connection. Throws `EgressError` `timeout`, `network`, and what Node says of a request that it does not
 * make.
 */
export function exchange(socket: TLSSocket, { url, message, headMs, signal }: ExchangeOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asking = request({
      createConnection: () => socket,
      method: message.body ? 'POST' : 'GET',
      path: `${url.pathname}${url.search}`,
      maxHeaderSize: HEAD_BYTES_MAX,
      // As a list they are sent as they are, and Node adds none.
      headers: [...composeHeaders(url, message)],
    });
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    // The reason is settled before the connection is taken down, whose own error comes too late to be told.
    const fail = (error: Error): void =>
      settle(() => {
        reject(error);
        asking.destroy();
        socket.destroy();
      });
    const onAbort = (): void => fail(new EgressAbortedError());
    const timer = setTimeout(() => fail(new EgressError('timeout')), headMs);
    signal.addEventListener('abort', onAbort);
    let interimAnswers = 0;
    asking.on('information', () => {
      interimAnswers += 1;
      if (interimAnswers > INTERIM_ANSWERS_MAX) fail(new EgressError('network'));
    });
    asking.on('upgrade', () => fail(new EgressError('network')));
    let answer: IncomingMessage | undefined;
    asking.on('error', () => {
      // Bytes after the end of the answer are an error too, and may come before its body is read.
      if (answer) answer.destroy(new EgressError('network'));
      else fail(new EgressError('network'));
    });
    asking.on('response', (head) => {
      answer = head;
      settle(() => resolve(head));
    });
    asking.end(message.body);
    if (signal.aborted) onAbort();
  });
}

/** Names and values in turn. */
function composeHeaders(url: URL, { headers, body }: Message): readonly string[] {
  const length: readonly Header[] = body ? [['Content-Length', String(body.length)]] : [];
  const all: readonly Header[] = [['Host', url.host], ...headers, ...length, ['Connection', 'close']];
  return all.flat();
}
