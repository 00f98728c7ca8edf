import type { AggregateRef, Origin, StoredEvent } from '../events/envelope.ts';
import type { DomainEvent } from '../events/registry.ts';

/**
 * The log, seen by one aggregate. Two implementations: JetStream, and memory for fast tests of what stands above.
 * Every event has a version of its own, counted from 1; the lock is that a version can be written only once.
 */
export interface EventStore {
  /**
   * All events of the aggregate, oldest first; `[]` when it has none. Every append that was acknowledged before, by
   * whichever process, is among them (D49). Throws `TransientError` when the log is away, `Defect` when it is torn.
   */
  load(aggregate: AggregateRef): Promise<readonly StoredEvent[]>;

  /**
   * Appends `event` after version `after.version` (0 for a new aggregate). Answers only when it is durable. Sent again
   * after the same version with the same `origin.commandId` it answers the event that is stored. Throws `ConflictError` when somebody else
   * wrote that version, `TransientError` when the log is away: then the event may or may not be stored, and only the
   * same command may be sent again.
   */
  append(aggregate: AggregateRef, after: AppendAfter, event: DomainEvent, origin: Origin): Promise<StoredEvent>;
}

/** Version and hash of the event after which to append; `{version: 0}` for the first. */
export type AppendAfter = { readonly version: number; readonly hash?: string };

/** Where the next event goes: after the last of `events`. */
export function afterLast(events: readonly StoredEvent[]): AppendAfter {
  const last = events.at(-1);
  return last ? { version: last.version, hash: last.hash } : { version: 0 };
}
