import type { Envelope, Origin, StoredEvent } from './envelope.ts';

/** Origin of what a service of ours does because of an event it read. */
export function originFrom(cause: StoredEvent, service: string, commandId: string, nowMs: number): Origin {
  const { id, correlationid, tenant }: Envelope = cause.envelope;
  return { commandId, correlationId: correlationid, causationId: id, actor: `service:${service}`, tenant, service, nowMs };
}
