import { disableWebhook } from '../../shared/accounts/webhooks.ts';
import { isoTime } from '../../shared/clock/clock.ts';
import { STATUS_GONE, type AttemptResult, type LiveDelivery } from '../../shared/domain/delivery.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { originFrom } from '../../shared/events/origin.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import type { NotifierContext } from './context.ts';

/** Longest wait until the copy of the deliveries knows of an attempt, in ms; later the next failure decides. */
const COPY_MS_MAX = 5_000;

/** An attempt that failed: what came of it, and the event that says so. */
export type Failed = { readonly queued: LiveDelivery['queued']; readonly result: AttemptResult; readonly recorded: StoredEvent };

/**
 * Disables an endpoint after a failed attempt if it is to be (§6 delivery 3): at once when it answered 410, tests
 * included (D58), and when its oldest failure since its last success is old enough (D71). So an endpoint that is quiet, or
 * fails now and then, is never disabled. Throws `TransientError`.
 */
export async function disableIfFailed(context: NotifierContext, failed: Failed): Promise<void> {
  const reason = await reasonToDisable(context, failed);
  if (reason === undefined) return;
  const { queued, recorded } = failed;
  const endpoint = context.accounts.findWebhook(queued.webhook_id);
  if (!endpoint) return;
  const { webhook_id: webhookId, organization_id: organizationId } = endpoint;
  const origin = originFrom(recorded, 'notifier', deriveId('disable-webhook', recorded.envelope.id), context.clock.nowMs());
  // Nothing when another attempt disabled it, or it was enabled anew since: what failed before does not count any more (D72).
  if ((await disableWebhook(context, origin, { webhookId, activation: queued.activation }, reason)) === undefined) return;
  context.figures.countDisabled();
  context.logger.warn({ webhook_id: webhookId, organization_id: organizationId, reason }, 'endpoint disabled');
}

async function reasonToDisable({ deliveries, clock, terms, logger }: NotifierContext, { queued, result, recorded }: Failed): Promise<EventData<'account.webhook_disabled'>['reason'] | undefined> {
  if (result.outcome === 'delivered') return undefined;
  if (result.status_code === STATUS_GONE) return 'gone_410';
  if (queued.source.kind === 'test' || result.failure === 'interrupted') return undefined;
  if (!(await deliveries.reader.waitFor(recorded.position, COPY_MS_MAX))) {
    logger.warn({ webhook_id: queued.webhook_id }, 'the copy of the deliveries is behind; the next failure decides whether the endpoint is disabled');
    return undefined;
  }
  const { failingSince } = deliveries.tables.findRecord(queued.webhook_id, queued.activation);
  return failingSince !== undefined && failingSince <= isoTime(clock.nowMs() - terms.disableAfterMs) ? 'failing_5_days' : undefined;
}
