import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Defect } from '../errors/errors.ts';
import { id, sha256, time } from './fields.ts';
import { latestVersion, type AggregateKind, type DomainEvent } from './registry.ts';
import { upcast } from './upcast.ts';

/** Who caused an event: a service of ours, an API key, or an operator. */
export const actor = z.string().regex(/^(service:[a-z]{1,20}|api_key:[0-9a-f-]{36}|operator)$/);

/** CloudEvents 1.0 in structured JSON with our extensions. These bytes, as stored, are what an auditor hashes. */
export const envelope = z.object({
  specversion: z.literal('1.0'),
  id,
  source: z.string().regex(/^\/services\/[a-z]{1,20}$/),
  type: z.string().regex(/^(job|credits|account|delivery)\.[a-z_]{1,40}$/),
  subject: id,
  time,
  datacontenttype: z.literal('application/json'),
  dataversion: z.int().min(1),
  aggregateversion: z.int().min(1),
  correlationid: id,
  causationid: id,
  actor,
  tenant: id,
  /** SHA-256 of the stored bytes of the aggregate's event before this one; absent on the first. */
  prevhash: sha256.optional(),
  traceparent: z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/).optional(),
  data: z.record(z.string(), z.unknown()),
});
export type Envelope = z.infer<typeof envelope>;

/** An aggregate: one job, one organization's credits or account, or one delivery to a webhook endpoint. */
export type AggregateRef = { readonly kind: AggregateKind; readonly id: string };

/** Where a command comes from; copied into every event it causes. */
export type Origin = {
  /** Id of the command; becomes the event's id, so a command that is sent twice appends once. */
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string;
  readonly actor: z.infer<typeof actor>;
  /** Organization the event belongs to. */
  readonly tenant: string;
  /** Service name, `api`, `converter`, … */
  readonly service: string;
  /** Time of the decision in ms since the epoch. */
  readonly nowMs: number;
};

/** An event read back from the log, with the envelope around it and the bytes it was stored as. */
export type StoredEvent<Event extends DomainEvent = DomainEvent> = {
  readonly event: Event;
  readonly envelope: Envelope;
  readonly aggregate: AggregateRef;
  readonly version: number;
  /** Sequence in its stream. */
  readonly position: number;
  /** SHA-256 of the stored bytes; the next event's `prevhash`. */
  readonly hash: string;
  readonly sizeBytes: number;
};

/** Lower-case hex SHA-256 of bytes as stored. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Bytes of an event to append after the one whose hash is `prevhash`; throws `Defect` when it fits no schema. */
export function encode(aggregate: AggregateRef, version: number, event: DomainEvent, origin: Origin, prevhash?: string): Buffer {
  const dataversion = latestVersion(event.type);
  const built: Envelope = {
    specversion: '1.0',
    id: origin.commandId,
    source: `/services/${origin.service}`,
    type: event.type,
    subject: aggregate.id,
    time: new Date(origin.nowMs).toISOString(),
    datacontenttype: 'application/json',
    dataversion,
    aggregateversion: version,
    correlationid: origin.correlationId,
    causationid: origin.causationId,
    actor: origin.actor,
    tenant: origin.tenant,
    ...(prevhash === undefined ? {} : { prevhash }),
    data: upcast(event.type, dataversion, event.data).data,
  };
  const checked = envelope.safeParse(built);
  if (!checked.success) throw new Defect(`${event.type} does not fit the envelope`, { cause: checked.error });
  return Buffer.from(JSON.stringify(built));
}

/** Reads stored bytes: envelope checked, data lifted to its latest version. Throws `Defect` on anything unknown. */
export function decode(aggregate: AggregateRef, position: number, bytes: Uint8Array): StoredEvent {
  const parsed = envelope.safeParse(parseJson(bytes));
  if (!parsed.success) throw new Defect(`event at position ${position} has a bad envelope`, { cause: parsed.error });
  const { type, dataversion, aggregateversion, subject, data } = parsed.data;
  if (subject !== aggregate.id || !type.startsWith(`${aggregate.kind}.`)) {
    throw new Defect(`event at position ${position} lies on the subject of another aggregate`);
  }
  return {
    event: upcast(type, dataversion, data),
    envelope: parsed.data,
    aggregate,
    version: aggregateversion,
    position,
    hash: hashOf(bytes),
    sizeBytes: bytes.byteLength,
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new Defect('event is not JSON', { cause });
  }
}
