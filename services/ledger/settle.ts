import type { NatsConnection } from '@nats-io/transport-node';
import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import { startWorker, type RunningWorker, type WorkerMessage } from '../../shared/consume/worker.ts';
import type { CreditsCommand } from '../../shared/domain/credits.ts';
import { chargeFor } from '../../shared/domain/pricing.ts';
import { Defect } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { EventData, JobEvent } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { SETTLE_DURABLE } from '../../shared/ledger-client/settling.ts';
import type { Logger } from '../../shared/log/log.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import type { Books } from './books.ts';

/** Ended jobs that are settled at once; those of one organization wait for each other anyway. */
const SLOTS = 8;

/** Settles every job that ends: durable `ledger-settle` on `JOBS`. */
export function startSettling(nc: NatsConnection, books: Books, logger: Logger): Promise<RunningWorker> {
  const handle = (message: WorkerMessage): Promise<Outcome> => settleMessage(books, message);
  return startWorker(nc, { stream: 'JOBS', durable: SETTLE_DURABLE, slots: SLOTS, handle }, logger);
}

async function settleMessage(books: Books, message: WorkerMessage): Promise<Outcome> {
  const stored = decodeMessage(message.subject, message.position, message.bytes);
  if (settlementOf(stored)) await books.inTurn(stored.envelope.tenant, () => settleInTurn(books, stored));
  return DONE;
}

/**
 * Charges or releases what is held for the job that `stored` ended (D30); any number of times, it happens once. Call it
 * inside `books.inTurn`. Throws `Defect` when a finished job has no hold or its charge is not what §2.7 says.
 */
export async function settleInTurn(books: Books, stored: StoredEvent): Promise<void> {
  const command = settlementOf(stored);
  if (!command) return;
  const jobId = stored.aggregate.id;
  const organizationId = stored.envelope.tenant;
  if (!books.tables.findHold(jobId)) await books.catchUp();
  const hold = books.tables.findHold(jobId);
  if (command.type === 'charge' && hold) requireFormula(command.data, hold.amount);
  // A job of a test key holds nothing, so there is nothing to release (§5).
  if (command.type === 'release' && !hold) return;
  await books.decide({
    organizationId,
    jobId,
    command,
    origin: {
      commandId: deriveId('settle', jobId),
      correlationId: stored.envelope.correlationid,
      causationId: stored.envelope.id,
      actor: 'service:ledger',
    },
  });
}

/** What the end of a job means for its hold; undefined for events that do not end one, or held nothing. */
export function settlementOf(stored: StoredEvent): Extract<CreditsCommand, { type: 'charge' | 'release' }> | undefined {
  // Only events of jobs come here; `decode` checked their kind.
  const event = stored.event as JobEvent;
  const job_id = stored.aggregate.id;
  switch (event.type) {
    case 'job.finished': {
      const { credits_charged: amount, billable_ms, speed_factor, weight } = event.data;
      // The least charge is 1; 0 is a job of a test key.
      return amount === 0 ? undefined : { type: 'charge', data: { job_id, amount, billable_ms, speed_factor, weight } };
    }
    case 'job.failed':
      return { type: 'release', job_id, reason: 'failed' };
    case 'job.cancelled':
      return { type: 'release', job_id, reason: 'cancelled' };
    case 'job.expired':
      return event.data.reason === 'never_uploaded' ? { type: 'release', job_id, reason: 'expired' } : undefined;
    case 'job.deleted':
      if (!event.data.held_credits_released) return undefined;
      // Deleted by its very first event: the job was abandoned before it was created.
      return { type: 'release', job_id, reason: stored.version === 1 ? 'never_created' : 'deleted' };
    default:
      return undefined;
  }
}

/** The charge stands in the event; it must be what anybody computes from the same event (D27). */
function requireFormula(charge: Omit<EventData<'credits.charged'>, 'held'>, held: number): void {
  if (chargeFor(charge, held) !== charge.amount) throw new Defect('a job was charged something else than the formula says');
}
