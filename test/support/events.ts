import { randomUUID } from 'node:crypto';
import type { AggregateRef, Origin, StoredEvent } from '../../shared/events/envelope.ts';
import type { DomainEventOf } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { afterLast, type EventStore } from '../../shared/store/event-store.ts';

/** A new, empty credits aggregate: the kind whose events need nothing but an amount. */
export function newCredits(): AggregateRef {
  return { kind: 'credits', id: newId(Date.now()) };
}

/** Where a command of a test comes from; each call is another command unless an id is given. */
export function originOf(aggregate: AggregateRef, commandId: string = randomUUID()): Origin {
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: 'operator',
    tenant: aggregate.id,
    service: 'ledger',
    nowMs: Date.now(),
  };
}

/** `credits.granted`, the event that tests append when any would do. */
export function granted(amount: number): DomainEventOf<'credits.granted'> {
  return { type: 'credits.granted', data: { amount } };
}

/** Appends grants of 1, 2, 3, … credits and answers what was stored. */
export async function appendGrants(store: EventStore, aggregate: AggregateRef, count: number): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [...(await store.load(aggregate))];
  for (let appended = 0; appended < count; appended += 1) {
    events.push(await store.append(aggregate, afterLast(events), granted(events.length + 1), originOf(aggregate)));
  }
  return events;
}
