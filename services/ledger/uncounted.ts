import { isoTime, type Clock } from '../../shared/clock/clock.ts';
import { TERMINAL_STATUSES } from '../../shared/domain/job-state.ts';
import { jobAt } from '../../shared/domain/job-view.ts';
import { jobDecider } from '../../shared/domain/job.ts';
import { TransientError } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { loadState } from '../../shared/store/handle.ts';
import type { Books } from './books.ts';
import { settleInTurn, settlementOf } from './settle.ts';

/** How long a refusal is delayed at most to look at jobs, in ms; the caller waits five seconds in all. */
const LOOK_MS_MAX = 1_000;
/** Jobs that are looked at side by side. */
const PAGE_SIZE = 32;

/** What looking at active jobs needs. */
export type LookParts = { readonly store: EventStore; readonly books: Books; readonly clock: Clock; readonly uploadGraceMs: number };

/**
 * Before a job is refused for the cap of active jobs: reads all of `CREDITS`, settles the organization's jobs that ended,
 * and answers which open holds do not count although their job has not ended: its file did not come in time, which no
 * event tells (D41). Looks no further once `max` jobs count. Call it inside `books.inTurn`; throws `TransientError`
 * when there are too many jobs to be sure.
 */
export async function findUncounted(parts: LookParts, organizationId: string, max: number): Promise<ReadonlySet<string>> {
  const { books } = parts;
  const end = performance.now() + LOOK_MS_MAX;
  const uncounted = new Set<string>();
  await books.catchUp();
  for (let [position, counted] = [0, 0]; counted < max; ) {
    if (performance.now() > end) throw new TransientError('ledger', 'too many jobs to look at before one more is refused');
    const page = books.tables.listOpenHolds(organizationId, position, PAGE_SIZE);
    const last = page.at(-1);
    if (!last) break;
    position = last.position;
    const looks = await Promise.all(page.map(({ job_id }) => lookAt(parts, job_id)));
    for (const [index, { job_id }] of page.entries()) {
      const look = looks[index];
      if (look === 'active') counted += 1;
      else if (look === 'not_active') uncounted.add(job_id);
      else if (look) await settleInTurn(books, look);
    }
  }
  return uncounted;
}

/** The event that ended a job, or whether it counts. One that is not there yet is about to be created: it counts. */
async function lookAt({ store, clock, uploadGraceMs }: LookParts, jobId: string): Promise<StoredEvent | 'active' | 'not_active'> {
  const { state, events } = await loadState(store, jobDecider, { kind: 'job', id: jobId });
  const ended = events.find((stored) => settlementOf(stored) !== undefined);
  if (ended) return ended;
  if (state.kind !== 'live') return 'active';
  const nowMs = clock.nowMs();
  // A deadline that has passed counts, although its event may still be on its way (D39).
  const { status, created } = jobAt(state, isoTime(nowMs));
  const isForgotten = status === 'waiting' && created.import === 'upload' && created.created_at <= isoTime(nowMs - uploadGraceMs);
  return isForgotten || TERMINAL_STATUSES.has(status) ? 'not_active' : 'active';
}
