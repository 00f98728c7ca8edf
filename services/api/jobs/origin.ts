import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { Origin } from '../../../shared/events/envelope.ts';

/** Origin of what a caller asked for: its actor is the key, never the secret; it is traced by the request id. */
export function originOf(caller: KeyContext, requestId: string, commandId: string, nowMs: number): Origin {
  return {
    commandId,
    correlationId: requestId,
    causationId: requestId,
    actor: `api_key:${caller.api_key_id}`,
    tenant: caller.organization_id,
    service: 'api',
    nowMs,
  };
}
