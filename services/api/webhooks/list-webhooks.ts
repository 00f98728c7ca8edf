import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { readLastSuccesses } from '../../../projections/deliveries/queries.ts';
import type { Dependencies } from '../dependencies.ts';
import { readDetails, viewWebhook, type WebhookView } from './view-webhook.ts';

/** Endpoints of the caller's organization and mode, newest first (§4.6, D53). Throws `TransientError`. */
export async function listWebhooks(deps: Dependencies, caller: KeyContext): Promise<readonly WebhookView[]> {
  const webhooks = deps.accounts.webhooksOf(caller.organization_id, caller.key_mode).toReversed();
  const lastSuccesses = await readLastSuccesses(deps.pool, webhooks.map(({ webhook_id }) => webhook_id));
  const views = await Promise.all(
    webhooks.map(async (webhook) => {
      const details = await readDetails(deps, webhook);
      // Without its key it was deleted a moment ago.
      return details ? [viewWebhook(webhook, details, lastSuccesses.get(webhook.webhook_id))] : [];
    }),
  );
  return views.flat();
}
