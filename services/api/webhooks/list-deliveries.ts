import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { isoTime } from '../../../shared/clock/clock.ts';
import type { DeliveryStatus } from '../../../shared/domain/delivery.ts';
import { listDeliveries, type DeliveryRow } from '../../../projections/deliveries/queries.ts';
import { wireEventId } from '../../../shared/webhooks/ids.ts';
import type { Dependencies } from '../dependencies.ts';
import { findVisibleWebhook } from './load-webhook.ts';

/** How long a history waits for its read model, in ms; then it is answered as far as it is there. */
const PROJECTED_MS_MAX = 2_000;

/** Which page of the history is asked for. */
export type HistoryRequest = { readonly page: number; readonly perPage: number; readonly status?: DeliveryStatus | undefined };

/** A delivery as clients see it. */
export type DeliveryView = {
  readonly id: string;
  readonly event_id: string;
  readonly event: string;
  readonly job_id: string | null;
  readonly test: boolean;
  readonly replay_of: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly response_status: number | null;
  readonly failure: string | null;
  readonly duration_ms: number | null;
  readonly queued_at: string;
  readonly last_attempt_at: string | null;
  readonly next_attempt_at: string | null;
};

/**
 * One page of the deliveries of an endpoint, newest first (§6 delivery 4). It waits for what was queued before; while
 * very much is being delivered it is rather shown late than not at all. Throws `ApiError` 404, `TransientError`.
 */
export async function listHistory(deps: Dependencies, caller: KeyContext, webhookId: string, request: HistoryRequest): Promise<{ readonly deliveries: readonly DeliveryView[]; readonly total: number }> {
  findVisibleWebhook(deps, caller, webhookId);
  await deps.positions.waitForPosition('deliveries', await deps.logEnd('DELIVERIES'), PROJECTED_MS_MAX);
  const { status, page, perPage } = request;
  const list = await listDeliveries(deps.pool, { organizationId: caller.organization_id, webhookId, now: isoTime(deps.clock.nowMs()), ...(status === undefined ? {} : { status }), page, perPage });
  return { deliveries: list.rows.map(viewDelivery), total: list.total };
}

function viewDelivery(row: DeliveryRow): DeliveryView {
  return {
    id: row.deliveryId,
    event_id: wireEventId(row.eventId),
    event: row.event,
    job_id: row.jobId ?? null,
    test: row.test,
    replay_of: row.replayOf ?? null,
    status: row.status,
    attempts: row.attempts,
    response_status: row.statusCode ?? null,
    failure: row.failure ?? null,
    duration_ms: row.durationMs ?? null,
    queued_at: row.queuedAt,
    last_attempt_at: row.lastAttemptAt ?? null,
    next_attempt_at: row.nextAttemptAt ?? null,
  };
}
