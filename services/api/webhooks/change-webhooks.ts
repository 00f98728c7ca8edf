import { randomUUID } from 'node:crypto';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { waitUntilApplied } from '../../../shared/accounts/applied.ts';
import { createWebhook, deleteWebhook } from '../../../shared/accounts/webhooks.ts';
import { WEBHOOK_EVENTS } from '../../../shared/domain/webhooks.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import type { Dependencies } from '../dependencies.ts';
import { originOf } from '../jobs/origin.ts';
import { findVisibleWebhook, noSuchWebhook } from './load-webhook.ts';
import type { CreateWebhookRequest } from './request-schema.ts';
import { viewWebhook, type WebhookView } from './view-webhook.ts';

/** How long an answer waits for this process to know what it has appended itself, in ms; it takes a few. */
const OWN_COPY_MS_MAX = 5_000;

/**
 * Registers an endpoint (§4.6): the one answer with its secret. Throws `ApiError` 400 for a URL that is not allowed,
 * `DomainError` for one endpoint too many, `TransientError`.
 */
export async function createEndpoint(deps: Dependencies, caller: KeyContext, request: CreateWebhookRequest, requestId: string, signal: AbortSignal): Promise<WebhookView & { readonly secret: string }> {
  const { url, description, events = WEBHOOK_EVENTS } = request;
  await deps.urlCheck.requireAllowed(url, signal);
  const details = { url, ...(description === undefined ? {} : { description }) };
  const context = { ...deps, jobsEnd: () => deps.logEnd('JOBS') };
  const origin = originOf(caller, requestId, randomUUID(), deps.clock.nowMs());
  const { webhook_id, secret, created_at, position } = await deps.changeTurns.inTurn(caller.organization_id, () => createWebhook(context, origin, { ...details, key_mode: caller.key_mode, events }));
  await untilKnown(deps, position);
  return { ...viewWebhook({ webhook_id, events, enabled: true, created_at }, details, undefined), secret };
}

/** Removes an endpoint for good (§4.6). Throws `ApiError` 404, `TransientError`. */
export async function deleteEndpoint(deps: Dependencies, caller: KeyContext, webhookId: string, requestId: string): Promise<void> {
  findVisibleWebhook(deps, caller, webhookId);
  const origin = originOf(caller, requestId, randomUUID(), deps.clock.nowMs());
  const position = await deps.changeTurns.inTurn(caller.organization_id, () => deleteWebhook(deps, origin, webhookId, caller.key_mode).catch(explainGone));
  await untilKnown(deps, position);
}

/** Somebody else deleted it a moment before. */
function explainGone(error: unknown): never {
  throw error instanceof DomainError && error.code === 'not_found' ? noSuchWebhook() : error;
}

/**
 * Waits until every process has applied a change, so that whichever answers next knows it. The change is made and its
 * secret is shown only once, so one that is late is no reason to answer anything else.
 */
async function untilKnown(deps: Dependencies, position: number): Promise<void> {
  const [, missing] = await Promise.all([deps.accounts.reader.waitFor(position, OWN_COPY_MS_MAX), waitUntilApplied(deps.nc, position).catch(() => ['unknown'])]);
  if (missing.length > 0) deps.logger.warn({ instances: missing }, 'a change of webhook endpoints is stored, and some processes have not confirmed it yet');
}
