import { fold } from '../../shared/domain/decider.ts';
import { jobDecider } from '../../shared/domain/job.ts';
import type { JobState } from '../../shared/domain/job-state.ts';
import type { AggregateRef, StoredEvent } from '../../shared/events/envelope.ts';
import type { DomainEvent, JobEvent } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { afterLast, type EventStore } from '../../shared/store/event-store.ts';
import { HISTORIES } from './job-events.ts';
import { originOf } from './events.ts';

/** A new job; its id is of this moment. */
export function newJob(): AggregateRef {
  return { kind: 'job', id: newId(Date.now()) };
}

/** Appends events to one aggregate, in order. */
export async function appendAll(store: EventStore, aggregate: AggregateRef, events: readonly DomainEvent[]): Promise<readonly StoredEvent[]> {
  const stored: StoredEvent[] = [...(await store.load(aggregate))];
  for (const event of events) stored.push(await store.append(aggregate, afterLast(stored), event, originOf(aggregate)));
  return stored;
}

/** Appends one job for each history of `HISTORIES`, their events interleaved in a random order; answers all events as stored. */
export async function appendHistories(store: EventStore, repeats = 1): Promise<readonly StoredEvent[]> {
  const jobs = Array.from({ length: repeats }, () => Object.values(HISTORIES))
    .flat()
    .filter((events) => events.length > 0)
    .map((events) => ({ job: newJob(), left: [...events] as JobEvent[], stored: [] as StoredEvent[] }));
  const all: StoredEvent[] = [];
  while (jobs.some(({ left }) => left.length > 0)) {
    const open = jobs.filter(({ left }) => left.length > 0);
    const next = open[Math.floor(Math.random() * open.length)];
    const event = next?.left.shift();
    if (next === undefined || event === undefined) continue;
    const stored = await store.append(next.job, afterLast(next.stored), event, originOf(next.job));
    next.stored.push(stored);
    all.push(stored);
  }
  return all;
}

/** What the rows of the read model of jobs must be: every live job by its id, folded. */
export function foldJobs(events: readonly StoredEvent[]): Map<string, JobState> {
  const ids = new Set(events.map((stored) => stored.aggregate.id));
  const states = [...ids].map((id): [string, JobState] => [id, fold(jobDecider, events.filter((stored) => stored.aggregate.id === id).map((stored) => stored.event as JobEvent))]);
  return new Map(states.filter(([, state]) => state.kind === 'live'));
}
