import { isDeepStrictEqual } from 'node:util';
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';

/** One field that is not as declared. */
export type FieldChange = { readonly field: string; readonly from: unknown; readonly to: unknown; readonly destructive?: string };

/** Says why a change may not be made without a person; undefined when it is harmless. */
type Judge = (from: unknown, to: unknown) => string | undefined;

const neverChanges: Judge = () => 'cannot be changed once it exists';

/** Limits where 0 or below means none. */
const losesWhenLowered: Judge = (from, to) => (limitOf(to) < limitOf(from) ? 'a lower limit deletes messages' : undefined);

const losesSubjects: Judge = (from, to) => {
  const lost = listOf(from).filter((subject) => !listOf(to).includes(subject));
  return lost.length > 0 ? `${lost.join(', ')} would not be taken any more` : undefined;
};

const losesProtection: Judge = (from) => (from === true ? 'takes protection away' : undefined);

const STREAM_JUDGES: Readonly<Record<string, Judge>> = {
  subjects: losesSubjects,
  storage: neverChanges,
  retention: neverChanges,
  max_consumers: neverChanges,
  max_age: losesWhenLowered,
  max_bytes: losesWhenLowered,
  max_msgs: losesWhenLowered,
  max_msgs_per_subject: losesWhenLowered,
  deny_delete: losesProtection,
  deny_purge: losesProtection,
  discard: (from) => (from === 'new' ? 'old messages would be deleted at a limit' : undefined),
  num_replicas: (from, to) => (Number(to) < Number(from) ? `fewer copies than now; set NATS_REPLICAS to ${String(from)}` : undefined),
};

const CONSUMER_JUDGES: Readonly<Record<string, Judge>> = {
  filter_subjects: losesSubjects,
  ack_policy: neverChanges,
  deliver_policy: neverChanges,
  replay_policy: neverChanges,
  max_deliver: losesWhenLowered,
};

/** Differences in the declared fields of a stream. What is not declared stays as it is. */
export function compareStream(declared: Partial<StreamConfig>, found: StreamConfig): FieldChange[] {
  return compare({ ...declared }, { ...found }, STREAM_JUDGES);
}

/** Differences in the declared fields of a consumer. */
export function compareConsumer(declared: Partial<ConsumerConfig>, found: ConsumerConfig): FieldChange[] {
  // The server keeps a single filter in a field of its own.
  const filters = found.filter_subjects ?? (found.filter_subject === undefined ? [] : [found.filter_subject]);
  return compare({ ...declared }, { ...found, filter_subjects: filters }, CONSUMER_JUDGES);
}

function compare(declared: Readonly<Record<string, unknown>>, found: Readonly<Record<string, unknown>>, judges: Readonly<Record<string, Judge>>): FieldChange[] {
  return Object.entries(declared).flatMap(([field, to]) => {
    const from = field === 'metadata' ? pick(found[field], to) : found[field];
    if (isSame(from, to)) return [];
    const destructive = judges[field]?.(from, to);
    return [{ field, from, to, ...(destructive === undefined ? {} : { destructive }) }];
  });
}

/** The server leaves out what is zero or false, sorts nothing, and means "none" by both 0 and -1. */
function isSame(from: unknown, to: unknown): boolean {
  if (Array.isArray(from) && Array.isArray(to)) return isDeepStrictEqual([...listOf(from)].sort(), [...listOf(to)].sort());
  if (typeof to === 'boolean') return (from ?? false) === to;
  if (typeof to === 'number') return from === to || (limitOf(from) === Infinity && limitOf(to) === Infinity);
  return isDeepStrictEqual(from, to);
}

/** The server adds entries of its own to the metadata. */
function pick(metadata: unknown, wanted: unknown): Record<string, unknown> {
  const found = new Map(Object.entries(metadata ?? {}));
  return Object.fromEntries(Object.keys(wanted ?? {}).flatMap((key) => (found.has(key) ? [[key, found.get(key)]] : [])));
}

function limitOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : Infinity;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
