import { creditsDecider, type CreditsState, type Hold } from '../../../shared/domain/credits.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { CreditsEvent } from '../../../shared/events/registry.ts';
import { replayCredits } from './replay.ts';

/** The hold of one job: what became of it, since when it is held, and where its last event lies in `CREDITS`. */
export type AuditedHold = Hold & { readonly heldAtMs: number; readonly position: number };

/** The credits of one organization as the log has them. */
export type AuditedCredits = { readonly sums: Pick<CreditsState, 'granted' | 'held' | 'charged'>; readonly holds: ReadonlyMap<string, AuditedHold> };

type Book = { sums: AuditedCredits['sums']; readonly holds: Map<string, AuditedHold> };

/**
 * Replays `CREDITS` event by event. An organization may have millions of holds, so they stay in one map that is changed
 * in place, and the rules are handed a state with the one hold that an event is about; they ask for no other.
 */
export class CreditsBooks {
  readonly #books = new Map<string, Book>();

  get organizations(): ReadonlyMap<string, AuditedCredits> {
    return this.#books;
  }

  /** Applies the next event. Throws `IllegalEventError` when the rules would not have made it; nothing has changed then. */
  apply(stored: StoredEvent): void {
    const { id } = stored.aggregate;
    // The stream CREDITS holds events of credits only; `decode` checked it.
    const event = stored.event as CreditsEvent;
    const book = this.#books.get(id) ?? { sums: creditsDecider.initialState, holds: new Map<string, AuditedHold>() };
    const jobId = event.type === 'credits.granted' ? undefined : event.data.job_id;
    const before = jobId === undefined ? undefined : book.holds.get(jobId);
    const { holds, ...sums } = replayCredits({ ...book.sums, holds: new Map(jobId !== undefined && before ? [[jobId, before]] : []) }, event);
    book.sums = sums;
    const hold = jobId === undefined ? undefined : holds.get(jobId);
    if (jobId !== undefined && hold) book.holds.set(jobId, { ...hold, heldAtMs: before?.heldAtMs ?? Date.parse(stored.envelope.time), position: stored.position });
    this.#books.set(id, book);
  }
}
