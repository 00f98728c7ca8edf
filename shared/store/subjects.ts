import { Defect } from '../errors/errors.ts';
import type { AggregateRef } from '../events/envelope.ts';
import { AGGREGATE_KINDS, type AggregateKind, type EventType } from '../events/registry.ts';
import { isId } from '../ids/ids.ts';

/** Stream of each kind of aggregate. */
export const STREAM_OF: Readonly<Record<AggregateKind, string>> = { job: 'JOBS', credits: 'CREDITS', account: 'ACCOUNTS', delivery: 'DELIVERIES' };

/** Prefix under which the server republishes what it stored; the only subjects to listen on for wake-ups. */
export const STORED_PREFIX = 'stored.';

/** `<kind>.<id>.<version>.<what>`: every event has its own subject. Throws `Defect` on an id that is not ours. */
export function eventSubject(aggregate: AggregateRef, version: number, type: EventType): string {
  return `${checked(aggregate)}.${version}.${type.slice(type.indexOf('.') + 1)}`;
}

/** The one spelling of the optimistic lock: no event of this version exists. Any other would not exclude it on R3. */
export function versionSubject(aggregate: AggregateRef, version: number): string {
  return `${checked(aggregate)}.${version}.*`;
}

/** All events of one aggregate. */
export function aggregateSubject(aggregate: AggregateRef): string {
  return `${checked(aggregate)}.*.*`;
}

/** Filter of a consumer for some event types of all aggregates. */
export function typeFilter(type: EventType): string {
  const [kind, what] = type.split('.');
  return `${kind}.*.*.${what}`;
}

/** Events after which nothing is held for a job any more, and nothing but deletion follows. */
export const JOB_ENDS = ['job.finished', 'job.failed', 'job.cancelled', 'job.expired', 'job.deleted'] as const satisfies readonly EventType[];

/** Filters for the events by which a job ends. */
export function endSubjects(jobId: string): readonly string[] {
  const job = checked({ kind: 'job', id: jobId });
  return JOB_ENDS.map((type) => `${job}.*.${type.slice(type.indexOf('.') + 1)}`);
}

/** The aggregate, version and type of an event's subject. Throws `Defect` when it is not one of ours. */
export function parseSubject(subject: string): AggregateRef {
  const [kind, id] = subject.split('.');
  const known = AGGREGATE_KINDS.find((name) => name === kind);
  if (known === undefined || id === undefined || !isId(id)) throw new Defect('a message lies on a subject that no aggregate has');
  return { kind: known, id };
}

function checked(aggregate: AggregateRef): string {
  if (!isId(aggregate.id)) throw new Defect('an aggregate id is not one of our UUIDs');
  return `${aggregate.kind}.${aggregate.id}`;
}
