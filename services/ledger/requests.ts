import type { NatsConnection } from '@nats-io/transport-node';
import { GRANT_SUBJECT, grantRequest, HOLD_SUBJECT, holdRequest, LEDGER_QUEUE, READY_SUBJECT } from '../../shared/ledger-client/messages.ts';
import type { GrantReply, HoldReply, ReadyReply } from '../../shared/ledger-client/messages.ts';
import type { Logger } from '../../shared/log/log.ts';
import { answerRequests, requestKind, type Answering } from '../../shared/nats/answer-requests.ts';
import type { Admission } from './admission.ts';

/** Requests in hand at once; more than this cannot be answered before their callers give up. */
const REQUESTS_MAX = 2_000;

/** What answering needs. `isReady` tells whether this ledger follows the log. */
export type AnsweringParts = { readonly nc: NatsConnection; readonly admission: Admission; readonly isReady: () => Promise<boolean> };

/** Answers `ledger.hold`, `ledger.grant` and `ledger.ready`, each request by one ledger of the group. */
export function answerLedgerRequests({ nc, admission, isReady }: AnsweringParts, logger: Logger): Answering {
  const hold = requestKind(HOLD_SUBJECT, holdRequest, (request, receivedMs): Promise<HoldReply> => admission.hold(request, receivedMs));
  const grant = requestKind(GRANT_SUBJECT, grantRequest, async (request, receivedMs): Promise<GrantReply> => ({ ok: true, ...(await admission.grant(request, receivedMs)) }));
  const ready = { subject: READY_SUBJECT, serve: async (): Promise<ReadyReply> => ({ ok: await isReady() }) };
  return answerRequests(nc, { queue: LEDGER_QUEUE, requestsMax: REQUESTS_MAX, kinds: [hold, grant, ready] }, logger);
}
