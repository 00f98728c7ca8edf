import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { StoredEvent } from '../events/envelope.ts';
import { decodeMessage } from './stored-message.ts';

/**
 * Reads single messages from the leader of a stream, which has every append that was acknowledged; any replica may
 * answer a direct read and be behind (1–4 % of them are, on three replicas).
 */
export class LeaderReader {
  readonly #manager: Promise<JetStreamManager>;

  constructor(nc: NatsConnection, timeoutMs: number) {
    this.#manager = jetstreamManager(nc, { checkAPI: false, timeout: timeoutMs });
  }

  /** Latest event whose subject matches, or undefined. Throws what the client throws, `Defect` on what is unknown. */
  async readLast(stream: string, subject: string): Promise<StoredEvent | undefined> {
    return this.#read(stream, { last_by_subj: subject });
  }

  /** The event at a position, or undefined. Throws as `readLast`. */
  async readAt(stream: string, position: number): Promise<StoredEvent | undefined> {
    return this.#read(stream, { seq: position });
  }

  async #read(stream: string, query: { readonly last_by_subj: string } | { readonly seq: number }): Promise<StoredEvent | undefined> {
    const message = await (await this.#manager).streams.getMessage(stream, query);
    return message === null ? undefined : decodeMessage(message.subject, message.seq, message.data);
  }
}
