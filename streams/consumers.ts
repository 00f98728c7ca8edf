import { SETTLE_DURABLE } from '../shared/ledger-client/settling.ts';
import { JOB_ENDS, typeFilter } from '../shared/store/subjects.ts';
import { dueFilter } from '../shared/timers/timers.ts';
import { accounts } from './accounts.ts';
import { advisories } from './advisories.ts';
import { engines, idempotency, keys, leases } from './buckets.ts';
import { credits } from './credits.ts';
import type { ConsumerDefinition, StreamDefinition } from './definition.ts';
import { deliveries } from './deliveries.ts';
import { jobs } from './jobs.ts';
import { rate } from './rate.ts';
import { timers } from './timers.ts';

/** Longer than any step of a worker that does not say in between that it is still at work, in ms. */
const ACK_WAIT_MS = 30_000;
/** Messages out at once, those that wait for their next try included: a dependency that is away fills it slowly. */
const ACK_PENDING_MAX = 1_000;

/** More imports than any number of importers fetches at once: those that wait for a place count as out. */
const FETCHES_PENDING_MAX = 20_000;

/** Jobs whose tool is away count as out while they wait, and must not keep the others of their queue from coming. */
const CONVERSIONS_PENDING_MAX = 20_000;

/** Deliveries to endpoints that answer slowly count as out while they wait for a place, and must not keep the others from coming. */
const ATTEMPTS_PENDING_MAX = 20_000;

/** Every stream and bucket there is. */
export const STREAMS: readonly StreamDefinition[] = [jobs, credits, accounts, deliveries, timers, rate, advisories, keys, leases, idempotency, engines];

/** Every durable consumer there is; a worker of another name does not start. */
export const CONSUMERS: readonly ConsumerDefinition[] = [
  worker(jobs, 'importer-schedule', 'importer', 'Sets the deadlines of a job', [typeFilter('job.created'), typeFilter('job.finished')]),
  worker(jobs, 'importer-observe', 'importer', 'Looks at a file that was uploaded in parts', [typeFilter('job.multipart_completed')]),
  worker(timers, 'importer-deadlines', 'importer', 'Acts when a deadline of a job is due', (['upload_window', 'result_ttl', 'upload_check', 'clean_up'] as const).map(dueFilter)),
  { ...worker(jobs, 'importer-fetch', 'importer', 'Fetches the files of jobs from their URLs', [typeFilter('job.created')]), ackPendingMax: FETCHES_PENDING_MAX },
  worker(jobs, 'importer-clean', 'importer', 'Removes what an ended job leaves behind', JOB_ENDS.map(typeFilter)),
  lane('converter-images', 'Converts images'),
  lane('converter-office', 'Converts documents, spreadsheets, presentations and PDFs'),
  lane('converter-media', 'Converts audio and video'),
  worker(jobs, 'converter-simulated', 'converter', 'Simulates the conversions of test jobs', [typeFilter('job.source_received')]),
  worker(timers, 'converter-simulated-end', 'converter', 'Ends simulated conversions that were to take a while', [dueFilter('simulation_end')]),
  worker(jobs, SETTLE_DURABLE, 'ledger', 'Charges or releases the hold of an ended job', JOB_ENDS.map(typeFilter)),
  worker(timers, 'ledger-orphans', 'ledger', 'Releases holds whose job was never created', [dueFilter('orphaned_hold')]),
  worker(jobs, 'notifier-fan-out', 'notifier', 'Queues events of jobs for the endpoints that subscribed to them', (['job.created', 'job.finished', 'job.failed', 'job.cancelled'] as const).map(typeFilter)),
  { ...worker(deliveries, 'notifier-first-attempt', 'notifier', 'Makes the first attempt of a delivery', [typeFilter('delivery.queued')]), ackPendingMax: ATTEMPTS_PENDING_MAX },
  { ...worker(timers, 'notifier-due-attempt', 'notifier', 'Makes the attempts of deliveries that are due', [dueFilter('webhook_attempt')]), ackPendingMax: ATTEMPTS_PENDING_MAX },
  worker(accounts, 'notifier-forget', 'notifier', 'Destroys the key of an endpoint that was deleted', [typeFilter('account.webhook_deleted')]),
];

function worker(stream: StreamDefinition, durable: string, owner: ConsumerDefinition['owner'], description: string, filters: readonly string[]): ConsumerDefinition {
  return { stream: stream.name, durable, owner, description, filters, ackWaitMs: ACK_WAIT_MS, ackPendingMax: ACK_PENDING_MAX };
}

function lane(durable: string, description: string): ConsumerDefinition {
  return { ...worker(jobs, durable, 'converter', description, [typeFilter('job.source_received')]), ackPendingMax: CONVERSIONS_PENDING_MAX };
}
