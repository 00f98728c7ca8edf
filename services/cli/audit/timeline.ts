import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, streamExtent } from '../../../shared/consume/read-stream.ts';
import { decode, type StoredEvent } from '../../../shared/events/envelope.ts';
import type { EventStore } from '../../../shared/store/event-store.ts';
import { parseSubject, typeFilter } from '../../../shared/store/subjects.ts';

/** One line in the life of a job. */
export type TimelineEntry = { readonly time: string; readonly type: string; readonly actor: string; readonly source: string; readonly position: number; readonly data: Readonly<Record<string, unknown>> };

/** The life of a job, of its credits and of the deliveries that told of it, oldest first; empty when there never was such a job. */
export async function readTimeline(nc: NatsConnection, store: EventStore, jobId: string): Promise<readonly TimelineEntry[]> {
  const jobEvents = await store.load({ kind: 'job', id: jobId });
  const organizationId = jobEvents[0]?.envelope.tenant;
  const creditsEvents = organizationId === undefined ? [] : await creditsOf(nc, organizationId, jobId);
  const deliveryEvents = organizationId === undefined ? [] : await deliveriesOf(nc, store, jobId);
  return [...jobEvents, ...creditsEvents, ...deliveryEvents].map(toEntry).toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
}

/** An organization's credits may be long, so they are read as a stream. */
async function creditsOf(nc: NatsConnection, organizationId: string, jobId: string): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  const { first, last } = await streamExtent(nc, 'CREDITS');
  for await (const message of readStream(nc, 'CREDITS', first, last)) {
    const aggregate = parseSubject(message.subject);
    if (aggregate.id !== organizationId) continue;
    const stored = decode(aggregate, message.position, message.bytes);
    if ('job_id' in stored.event.data && stored.event.data.job_id === jobId) found.push(stored);
  }
  return found;
}

/** Events of every delivery of an event of the job, as far as the log still has them. */
async function deliveriesOf(nc: NatsConnection, store: EventStore, jobId: string): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  const { first, last } = await streamExtent(nc, 'DELIVERIES');
  for await (const message of readStream(nc, 'DELIVERIES', Math.max(1, first), last, [typeFilter('delivery.queued')])) {
    const { aggregate, event } = decode(parseSubject(message.subject), message.position, message.bytes);
    if (event.type === 'delivery.queued' && event.data.source.kind === 'job' && event.data.source.job_id === jobId) found.push(...(await store.load(aggregate)));
  }
  return found;
}

function toEntry(stored: StoredEvent): TimelineEntry {
  const { time, type, actor, source } = stored.envelope;
  const data = withoutSealed(stored.event.data);
  return { time, type, actor, source, position: stored.position, data: stored.aggregate.kind === 'delivery' ? { delivery_id: stored.aggregate.id, ...data } : data };
}

/** What clients typed stays sealed; the rest of an event is ids, numbers and times. */
function withoutSealed(data: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'typed' && name !== 'job_id'));
}

/** The timeline as a person reads it, with the time that passed since the line before. */
export function printTimeline(entries: readonly TimelineEntry[]): string {
  const lines = entries.map((entry, index) => {
    const before = entries[index - 1];
    const passedMs = before ? Date.parse(entry.time) - Date.parse(before.time) : 0;
    const facts = Object.entries(entry.data).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
    return `${entry.time}  ${`+${passedMs} ms`.padStart(11)}  ${entry.type.padEnd(24)} ${entry.actor.padEnd(20)} ${facts.join(' ')}`.trimEnd();
  });
  return `${lines.join('\n')}\n`;
}
