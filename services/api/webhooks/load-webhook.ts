import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { WebhookEndpoint } from '../../../shared/accounts/webhook-tables.ts';
import { isId } from '../../../shared/ids/ids.ts';
import type { Dependencies } from '../dependencies.ts';
import { ApiError } from '../errors/api-error.ts';
import { pathParameter, type ApiContext } from '../http/context.ts';

/** The endpoint id in the path. Throws `ApiError` 404 when it is none of ours, whatever is wrong with it (D3). */
export function webhookIdOf(ctx: ApiContext): string {
  const webhookId = pathParameter(ctx, 'webhook_id');
  if (!isId(webhookId)) throw noSuchWebhook();
  ctx.state.webhookId = webhookId;
  return webhookId;
}

/** An endpoint that the caller may see: of the same organization and mode (D53). Throws `ApiError` 404 otherwise. */
export function findVisibleWebhook(deps: Dependencies, caller: KeyContext, webhookId: string): WebhookEndpoint {
  const webhook = deps.accounts.findWebhook(webhookId);
  if (!webhook || webhook.organization_id !== caller.organization_id || webhook.key_mode !== caller.key_mode) throw noSuchWebhook();
  return webhook;
}

/** 404: unknown, deleted, of another organization, or of the other key mode; all the same (§7). */
export function noSuchWebhook(): ApiError {
  return ApiError.notFound('There is no such webhook endpoint.');
}
