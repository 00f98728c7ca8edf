import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Tally } from '../../../shared/limits/tally.ts';
import { canonicalAddress } from './client-address.ts';

/** How many connections one address may have, and which addresses stand for many clients: those of proxies. */
export type ConnectionLimits = { readonly perAddressMax: number; readonly isExempt: (address: string) => boolean };

/** Ends connections over the limit of their address as they come, so that nobody takes all there are. */
export function limitConnections(server: Server, { perAddressMax, isExempt }: ConnectionLimits): void {
  const open = new Tally();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const address = canonicalAddress(remoteAddress);
    if (address === undefined || isExempt(remoteAddress)) return;
    if (open.of(address) >= perAddressMax) socket.destroy();
    else socket.once('close', open.add(address));
  });
}

/** What is going on on the connections of a server. */
export class OpenAnswers {
  readonly #bySocket = new WeakMap<Socket, { requests: number; readonly answers: Set<ServerResponse> }>();

  /** Notes a request and answers how many have come on its connection so far. */
  note(socket: Socket, response: ServerResponse): number {
    const known = this.#bySocket.get(socket) ?? { requests: 0, answers: new Set() };
    this.#bySocket.set(socket, known);
    known.requests += 1;
    known.answers.add(response);
    response.once('close', () => known.answers.delete(response));
    return known.requests;
  }

  /** False while any answer is not through. */
  isIdle(socket: Socket): boolean {
    return (this.#bySocket.get(socket)?.answers.size ?? 0) === 0;
  }

  /** False while an answer has begun, or others wait for their turn: what is written now would be taken for one of them. */
  mayWrite(socket: Socket): boolean {
    const answers = this.#bySocket.get(socket)?.answers ?? new Set();
    return answers.size <= 1 && [...answers].every(({ headersSent }) => !headersSent);
  }
}
