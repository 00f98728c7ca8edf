import { jetstream, type Consumer, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../../shared/log/log.ts';
import { readDirect } from '../../shared/store/direct-read.ts';
import { endSubjects, parseSubject } from '../../shared/store/subjects.ts';

/** Jobs looked at at once; a shorter queue is left to its worker, which looks at them one by one. A job has at most three events of an end, and one answer holds a thousand. */
const BATCH = 256;
/** Longest wait for a batch, and for the answer about it, in ms. */
const FETCH_MS = 5_000;
/** Jobs that have not ended come again after this time, in ms: to whoever works the queue, and not into the next batch. */
const LEFT_WAIT_MS = 2_000;

/** Whose queue is skimmed, and until when. */
export type Skimming = { readonly durable: string; readonly logger: Logger; readonly signal: AbortSignal };

/**
 * Goes fast through a queue that nobody has worked for long, such as a new one over an old log: what ended long ago must not
 * hold up the jobs of today. It returns when what comes is worth the worker's look, when the server is away, or when it
 * is told to stop. A replica that is behind only knows of fewer ends.
 */
export async function skimQueue(nc: NatsConnection, { durable, logger, signal }: Skimming): Promise<void> {
  try {
    const consumer = await jetstream(nc).consumers.get('JOBS', durable);
    for (let skipped = 0; !signal.aborted; ) {
      const { num_pending } = await consumer.info();
      if (num_pending < BATCH) return;
      if (skipped === 0) logger.info({ consumer: durable, messages: num_pending }, 'skipping jobs that have ended');
      const ended = await skimBatch(nc, consumer);
      if (ended < BATCH / 2) return;
      skipped += ended;
    }
  } catch (error) {
    if (!signal.aborted) logger.warn({ err: error, consumer: durable }, 'cannot skip jobs that have ended; the worker looks at each');
  }
}

/** How many of a batch were of jobs that have ended. */
async function skimBatch(nc: NatsConnection, consumer: Consumer): Promise<number> {
  const messages: JsMsg[] = [];
  for await (const message of await consumer.fetch({ max_messages: BATCH, expires: FETCH_MS })) messages.push(message);
  const ids = messages.map(({ subject }) => parseSubject(subject).id);
  const ends = await readDirect(nc, 'JOBS', ids.flatMap(endSubjects), FETCH_MS);
  const ended = new Set(ends?.map(({ aggregate }) => aggregate.id));
  for (const [index, message] of messages.entries()) {
    if (ended.has(ids[index] ?? '')) message.ack();
    else message.nak(LEFT_WAIT_MS);
  }
  return ended.size;
}
