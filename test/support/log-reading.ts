import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { readStream, streamExtent } from '../../shared/consume/read-stream.ts';

const event = z.object({
  type: z.string(),
  subject: z.string(),
  tenant: z.string(),
  time: z.string(),
  actor: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/** An event as it lies in the log, read without any code of the service but JSON. */
export type LoggedEvent = z.infer<typeof event>;

/** Everything in a stream up to now, in order. */
export async function readLog(nc: NatsConnection, stream: 'JOBS' | 'CREDITS' | 'ACCOUNTS' | 'DELIVERIES'): Promise<readonly LoggedEvent[]> {
  const { last } = await streamExtent(nc, stream);
  const events: LoggedEvent[] = [];
  for await (const { bytes } of readStream(nc, stream, 1, last)) events.push(event.parse(JSON.parse(Buffer.from(bytes).toString())));
  return events;
}

/** The types of the events of each job, in order. */
export function typesByJob(events: readonly LoggedEvent[]): ReadonlyMap<string, readonly string[]> {
  const types = new Map<string, string[]>();
  for (const { subject, type } of events) types.set(subject, [...(types.get(subject) ?? []), type]);
  return types;
}

/** What was done with the credits of each job, in order: `held`, `charged`, `released`. */
export function creditsByJob(events: readonly LoggedEvent[]): ReadonlyMap<string, readonly string[]> {
  const kinds = new Map<string, string[]>();
  for (const { type, data } of events) {
    const jobId = data['job_id'];
    if (typeof jobId === 'string') kinds.set(jobId, [...(kinds.get(jobId) ?? []), type.replace('credits.', '')]);
  }
  return kinds;
}
