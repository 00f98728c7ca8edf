import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../shared/clock/clock.ts';
import { DONE, type Outcome } from '../../shared/consume/outcome.ts';
import { startWorker, type RunningWorker, type WorkerMessage } from '../../shared/consume/worker.ts';
import { jobDecider } from '../../shared/domain/job.ts';
import { Defect } from '../../shared/errors/errors.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { handle } from '../../shared/store/handle.ts';
import { parseDueTimer, scheduleTimer } from '../../shared/timers/timers.ts';
import type { Books } from './books.ts';
import type { HoldRow } from './credits-tables.ts';
import { settleInTurn, settlementOf } from './settle.ts';

/** Holds that are looked at at once. */
const SLOTS = 4;

/** Holds that are read at once when a ledger starts. */
const PAGE_SIZE = 500;

/** What looking after holds without a job needs. */
export type OrphanParts = { readonly nc: NatsConnection; readonly store: EventStore; readonly books: Books; readonly clock: Clock };

/**
 * Looks at every hold some time after it was made: durable `ledger-orphans` on `TIMERS`. A hold whose job was not
 * created is not released right away, because an api that was paused could still create the job and it would run
 * unpaid. Instead the job is abandoned by its first event, after which no `job.created` can be appended; that event
 * ends the job, and settling releases the hold as for every job that ended.
 */
export function startReleasingOrphans(parts: OrphanParts, logger: Logger): Promise<RunningWorker> {
  const look = (message: WorkerMessage): Promise<Outcome> => lookAtHold(parts, message);
  return startWorker(parts.nc, { stream: 'TIMERS', durable: 'ledger-orphans', slots: SLOTS, handle: look }, logger);
}

/**
 * Sets the timer of every open hold anew when a ledger starts: due after `holdReleaseMs`, at once for older holds. Nearly
 * all of them belong to jobs that go on, and looking at those does nothing; it is for the one whose ledger was paused
 * until its timer had fired, appended the hold, and died before it could set the timer again, for the one whose job
 * ended and whose settlement was parked, and for those whose timers were lost with their stream.
 */
export async function lookAtOpenHolds({ nc, books, clock }: OrphanParts, holdReleaseMs: number): Promise<void> {
  for (let last: HoldRow | undefined; ; ) {
    const page = books.tables.listAllOpenHolds(last, PAGE_SIZE);
    await Promise.all(
      page.map((hold) => {
        const dueAtMs = Math.max(clock.nowMs(), Date.parse(hold.held_at) + holdReleaseMs);
        return scheduleTimer(nc, { kind: 'orphaned_hold', subjectTokens: [hold.organization_id, hold.job_id], dueAtMs });
      }),
    );
    last = page.at(-1);
    if (!last) return;
  }
}

async function lookAtHold({ store, books, clock }: OrphanParts, message: WorkerMessage): Promise<Outcome> {
  const [organizationId, jobId] = parseDueTimer(message.subject).tokens;
  if (organizationId === undefined || jobId === undefined) throw new Defect('the timer of a hold names an organization and a job');
  if (!books.tables.findHold(jobId)) await books.catchUp();
  // Refused after its timer was set, or settled before it fired.
  if (books.tables.findHold(jobId)?.status !== 'held') return DONE;
  const commandId = deriveId('abandon', jobId);
  const { events } = await handle(store, jobDecider, { kind: 'job', id: jobId }, { type: 'abandon' }, {
    commandId,
    correlationId: commandId,
    causationId: deriveId('hold', organizationId, jobId),
    actor: 'service:ledger',
    tenant: organizationId,
    service: 'ledger',
    nowMs: clock.nowMs(),
  });
  // An api that was paused may have had the credits held after its job was given up, and a settlement may have been
  // parked; nobody else comes by for those.
  const end = events.find((stored) => settlementOf(stored) !== undefined);
  if (end) await books.inTurn(organizationId, () => settleInTurn(books, end));
  return DONE;
}
