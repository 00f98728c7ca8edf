import { TransientError } from '../../shared/errors/errors.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { balanceOf } from '../../shared/domain/credits.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import type { Books } from './books.ts';
import type { HoldRow } from './credits-tables.ts';
import { settleInTurn, settlementOf } from './settle.ts';

/** How long a refusal is delayed at most to look for jobs that ended, in ms; the caller waits five seconds in all. */
const LOOK_MS_MAX = 1_000;
/** Jobs that are looked at side by side. */
const PAGE_SIZE = 32;

/**
 * Before credits are refused: reads all of `CREDITS`, then settles the organization's jobs that ended and that the
 * worker has not come to yet, oldest first, until `required` credits are there. So a job that just ended never causes
 * a false 402, however far the worker is behind. Call it inside `books.inTurn`; throws `TransientError`.
 */
export async function settleEndedJobs(books: Books, store: EventStore, organizationId: string, required: number): Promise<void> {
  const end = performance.now() + LOOK_MS_MAX;
  await books.catchUp();
  let position = 0;
  while (balanceOf(books.tables.readState(organizationId, undefined)) < required) {
    // Not known to be too little: asking again later is better than a refusal that may be false.
    if (performance.now() > end) throw new TransientError('ledger', 'too many jobs to look at before credits are refused');
    const page = books.tables.listOpenHolds(organizationId, position, PAGE_SIZE);
    const last = page.at(-1);
    if (!last) return;
    for (const ended of await Promise.all(page.map((hold) => findEnd(store, hold)))) {
      if (ended) await settleInTurn(books, ended);
    }
    position = last.position;
  }
}

async function findEnd(store: EventStore, hold: HoldRow): Promise<StoredEvent | undefined> {
  const events = await store.load({ kind: 'job', id: hold.job_id });
  return events.find((stored) => settlementOf(stored) !== undefined);
}
