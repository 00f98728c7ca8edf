import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { WebhookEvent } from '../../../shared/domain/webhooks.ts';
import { toTransient } from '../../../shared/nats/transient.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import { decodeMessage } from '../../../shared/store/stored-message.ts';
import { STREAM_OF, typeFilter } from '../../../shared/store/subjects.ts';

/** Events asked for at once; bounds memory while a receiver is slow. */
const BATCH_MAX = 100;

/** Which events of jobs: whose, of which names, and from which position of `JOBS` on. */
export type Wanted = { readonly organizationId: string; readonly events: readonly WebhookEvent[]; readonly from: number };

/** Events of jobs as they are stored, in order, until `signal` is aborted. Throws `TransientError`, `Defect`. */
export async function* followJobEvents(nc: NatsConnection, { organizationId, events, from }: Wanted, signal: AbortSignal): AsyncGenerator<StoredEvent> {
  if (signal.aborted) return;
  try {
    const consumer = await jetstream(nc).consumers.get(STREAM_OF.job, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from, filter_subjects: events.map(typeFilter) });
    const messages = await consumer.consume({ max_messages: BATCH_MAX });
    const stop = (): void => messages.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      for await (const message of messages) {
        const stored = decodeMessage(message.subject, message.seq, message.data);
        if (stored.envelope.tenant === organizationId) yield stored;
        if (signal.aborted) return;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      messages.stop();
      await consumer.delete().catch(() => undefined);
    }
  } catch (error) {
    throw toTransient(error);
  }
}
