import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Defect, TransientError } from '../errors/errors.ts';
import type { AggregateRef, StoredEvent } from '../events/envelope.ts';
import { hasAgedOut } from '../nats/aged-out.ts';
import { toTransient } from '../nats/transient.ts';
import { Deadline } from './deadline.ts';
import { readDirect } from './direct-read.ts';
import type { LeaderReader } from './leader.ts';
import { checkChain } from './stored-message.ts';
import { aggregateSubject, STREAM_OF, versionSubject } from './subjects.ts';

/** A load is tried again for this long while the log is away, in ms; a client of the api waits behind it. */
export const LOAD_LIMIT_MS = 5_000;
/** One request of a load, in ms. */
export const READ_TIMEOUT_MS = 2_000;
/** Versions that one page of a long aggregate names; half of what the server allows. */
const PAGE_VERSIONS = 512;
/** A longer aggregate is folded by a reader into a copy, not loaded: this many events hold about 100 MB. */
const LOAD_EVENTS_MAX = 100_000;

/**
 * All events of an aggregate, none that was acknowledged missing. The cheap read may be answered by a replica that is
 * behind, so the leader is asked at the same time for the last event, and for what the replica does not have yet.
 * Of an aggregate whose beginning has aged out nothing is left. Throws `TransientError` when the log is away, `Defect` when
 * it is not what it must be.
 */
export async function loadEvents(nc: NatsConnection, leader: LeaderReader, aggregate: AggregateRef, limitMs: number): Promise<readonly StoredEvent[]> {
  const deadline = new Deadline(limitMs);
  for (;;) {
    try {
      const events = await readAll(nc, leader, aggregate);
      if (await hasLostBeginning(nc, events[0])) return [];
      checkChain(events);
      return events;
    } catch (cause) {
      const error = toTransient(cause);
      if (!(error instanceof TransientError) || deadline.passed) throw error;
      await deadline.pause();
    }
  }
}

/** True when the stream forgets by age, has begun to, and the first version of the aggregate is not there any more. */
async function hasLostBeginning(nc: NatsConnection, first: StoredEvent | undefined): Promise<boolean> {
  if (first === undefined || first.version === 1) return false;
  return hasAgedOut(await jetstreamManager(nc, { checkAPI: false, timeout: READ_TIMEOUT_MS }), STREAM_OF[first.aggregate.kind], 1);
}

async function readAll(nc: NatsConnection, leader: LeaderReader, aggregate: AggregateRef): Promise<StoredEvent[]> {
  const stream = STREAM_OF[aggregate.kind];
  const all = aggregateSubject(aggregate);
  const [direct, head] = await Promise.all([readDirect(nc, stream, [all], READ_TIMEOUT_MS), leader.readLast(stream, all)]);
  const versions = head?.version ?? 0;
  if (direct !== undefined) return complete(leader, aggregate, direct, versions);
  if (versions > LOAD_EVENTS_MAX) throw new Defect(`an aggregate has more than ${LOAD_EVENTS_MAX} events and cannot be loaded at once`);
  const events: StoredEvent[] = [];
  while (events.length < versions) {
    const last = Math.min(events.length + PAGE_VERSIONS, versions);
    const subjects = Array.from({ length: last - events.length }, (_, index) => versionSubject(aggregate, events.length + index + 1));
    events.push(...((await readDirect(nc, stream, subjects, READ_TIMEOUT_MS)) ?? []));
    await complete(leader, aggregate, events, last);
  }
  return events;
}

/** Adds the versions up to `last` that a replica did not have yet; it has the older ones, because it applies in order. */
async function complete(leader: LeaderReader, aggregate: AggregateRef, events: StoredEvent[], last: number): Promise<StoredEvent[]> {
  while (events.length < last) {
    const version = events.length + 1;
    const event = await leader.readLast(STREAM_OF[aggregate.kind], versionSubject(aggregate, version));
    // Seen while a leader changes; an event that is really missing shows in the chain.
    if (event === undefined) throw new TransientError('nats', `version ${version} of an aggregate cannot be read yet`);
    events.push(event);
  }
  return events;
}
