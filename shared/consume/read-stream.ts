import { DeliverPolicy, jetstream, jetstreamManager, type Consumer } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Defect, TransientError } from '../errors/errors.ts';

/** Messages asked for at once; bounds memory. */
const BATCH_MAX = 500;
/** Longest silence of the server while there is more to read, in ms. */
const SILENCE_MS_MAX = 10_000;

/** A message as it is stored. */
export type StoredMessage = { readonly subject: string; readonly bytes: Uint8Array; readonly position: number };

/** How much a stream holds at this moment. */
export type StreamExtent = { readonly first: number; readonly last: number; readonly messages: number };

/** Extent of a stream now. Throws `TransientError`. */
export async function streamExtent(nc: NatsConnection, stream: string): Promise<StreamExtent> {
  try {
    const { state } = await (await jetstreamManager(nc, { checkAPI: false })).streams.info(stream);
    return { first: state.first_seq, last: state.last_seq, messages: state.messages };
  } catch (cause) {
    throw new TransientError('nats', `stream ${stream} cannot be read`, { cause });
  }
}

/**
 * All messages of a stream in order, from `from` up to `to`, or those of some subjects. Throws `TransientError` when the
 * server falls silent.
 */
export async function* readStream(nc: NatsConnection, stream: string, from: number, to: number, filters: readonly string[] = []): AsyncGenerator<StoredMessage> {
  if (to < from || to === 0) return;
  const consumer = await jetstream(nc).consumers.get(stream, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from, ...(filters.length > 0 ? { filter_subjects: [...filters] } : {}) });
  try {
    // The message at `to` may be none of those that are wanted.
    if (filters.length > 0 && (await consumer.info()).num_pending === 0) return;
    yield* readAll(consumer, stream, from, to, filters.length > 0);
  } finally {
    // By itself it would stay for minutes, and a stream takes a bounded number of them.
    await consumer.delete().catch(() => undefined);
  }
}

async function* readAll(consumer: Consumer, stream: string, from: number, to: number, isFiltered: boolean): AsyncGenerator<StoredMessage> {
  for (let position = from - 1; position < to; ) {
    const messages = await consumer.fetch({ max_messages: BATCH_MAX, expires: SILENCE_MS_MAX });
    const before = position;
    for await (const message of messages) {
      if (message.seq > to) return;
      if (message.seq <= position) throw new Defect('the server delivered a stream out of order');
      position = message.seq;
      yield { subject: message.subject, bytes: message.data, position };
      if (position === to || (isFiltered && message.info.pending === 0)) return;
    }
    if (position === before) throw new TransientError('nats', `stream ${stream} fell silent at position ${position}`);
  }
}
