import type { WebhookEvent } from '../../../shared/domain/webhooks.ts';
import type { ComposedEvent } from './compose-event.ts';
import type { Outcome } from './forward.ts';

/** What is forwarded, where to, and the secret that signs it. */
export type Forwarding = { readonly url: string; readonly events: readonly WebhookEvent[]; readonly organizationId: string; readonly secret: string };

/** What is said before the first event; the secret is a new one at every start. */
export function startLines({ url, events, organizationId, secret }: Forwarding, isJson: boolean): string {
  if (isJson) return JSON.stringify({ forward_to: url, organization_id: organizationId, events, secret });
  return [`Forwarding ${events.join(', ')} of organization ${organizationId} to ${url}`, `Signing secret: ${secret}`, 'Ctrl-C ends it.'].join('\n');
}

/** One line for each event that was forwarded. */
export function deliveryLine({ event, eventId, jobId }: ComposedEvent, outcome: Outcome, isJson: boolean): string {
  const time = new Date().toISOString();
  if (isJson) {
    const result = 'statusCode' in outcome ? { status_code: outcome.statusCode } : { failure: outcome.failure };
    return JSON.stringify({ time, event, event_id: eventId, job_id: jobId, ...result, duration_ms: outcome.durationMs });
  }
  return [time, event.padEnd(13), `job ${jobId}`, eventId, 'statusCode' in outcome ? String(outcome.statusCode) : outcome.failure, `${outcome.durationMs} ms`].join('  ');
}
