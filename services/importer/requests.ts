import type { NatsConnection } from '@nats-io/transport-node';
import { IMPORTER_QUEUE, IMPORTER_READY_SUBJECT, OBSERVE_SUBJECT, observeRequest, type ObserveReply } from '../../shared/importer-client/messages.ts';
import type { Logger } from '../../shared/log/log.ts';
import { answerRequests, requestKind, type Answering } from '../../shared/nats/answer-requests.ts';
import type { Observer } from './observer.ts';

/** Requests in hand at once; more than this cannot be answered before their callers give up. */
const REQUESTS_MAX = 5_000;

/** Answers `importer.observe` and `importer.ready`, each request by one importer of the group. */
export function answerImporterRequests(nc: NatsConnection, observer: Observer, logger: Logger): Answering {
  const observe = requestKind(OBSERVE_SUBJECT, observeRequest, async ({ job_id }): Promise<ObserveReply> => ({ ok: true, status: await observer.observe(job_id) }));
  const ready = { subject: IMPORTER_READY_SUBJECT, serve: async () => Promise.resolve({ ok: true }) };
  return answerRequests(nc, { queue: IMPORTER_QUEUE, requestsMax: REQUESTS_MAX, kinds: [observe, ready] }, logger);
}
