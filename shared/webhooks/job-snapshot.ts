import { fold } from '../domain/decider.ts';
import { jobDecider } from '../domain/job.ts';
import { viewJob, type JobView, type ShownTyped } from '../domain/job-view.ts';
import type { JobEvent } from '../events/registry.ts';
import { Defect } from '../errors/errors.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { resultUrlOf } from '../objects/result-url.ts';
import type { EventStore } from '../store/event-store.ts';

/** Stands in for what a client typed into a job that was deleted, and forgotten, before anybody could keep it (D73). */
export const FORGOTTEN_TYPED: ShownTyped = { task_names: { import: 'import', convert: 'convert', export: 'export' }, ignored_options: [] };

/** Where the snapshot is taken from. */
export type SnapshotSources = { readonly store: EventStore; readonly objects: ObjectStore };

/** A job, the version of its event that is told of, and what its client typed. */
export type SnapshotOf = { readonly jobId: string; readonly version: number; readonly typed: ShownTyped };

/** A job as it was at one of its events, and when that was. */
export type Snapshot = { readonly job: JobView; readonly at: string };

/**
 * The job as it was right after one of its events, in the shape of GET /jobs/{id} (§6 body, D69): made from its events up
 * to that one, by no clock, so it is the same whenever it is made, and also after the job was deleted. Throws
 * `TransientError`.
 */
export async function takeSnapshot({ store, objects }: SnapshotSources, { jobId, version, typed }: SnapshotOf): Promise<Snapshot> {
  const stored = (await store.load({ kind: 'job', id: jobId })).slice(0, version);
  // The stream JOBS holds events of jobs only; `decode` checked it.
  const state = fold(jobDecider, stored.map((event) => event.event as JobEvent));
  const last = stored.at(-1);
  if (state.kind !== 'live' || last?.version !== version) throw new Defect('a delivery tells of an event that its job does not have');
  const resultUrl = await resultUrlOf(objects, jobId, state);
  return { job: viewJob(jobId, state, typed, resultUrl === undefined ? {} : { resultUrl }, { tasks: true }), at: last.envelope.time };
}
