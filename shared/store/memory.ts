import { ConflictError, Defect } from '../errors/errors.ts';
import { decode, encode, type AggregateRef, type StoredEvent } from '../events/envelope.ts';
import type { EventStore } from './event-store.ts';
import { checkChain, decodeMessage } from './stored-message.ts';
import { eventSubject, STREAM_OF } from './subjects.ts';

type Message = { readonly subject: string; readonly position: number; readonly bytes: Uint8Array };

/** A log that lives as long as the process: for fast tests of what stands above. It keeps bytes, as the real one does. */
export function createMemoryStore(): EventStore {
  const aggregates = new Map<string, Message[]>();
  const positions = new Map<string, number>();
  const read = (aggregate: AggregateRef): StoredEvent[] =>
    (aggregates.get(keyOf(aggregate)) ?? []).map(({ subject, position, bytes }) => decodeMessage(subject, position, bytes));
  return {
    async load(aggregate) {
      const events = read(aggregate);
      checkChain(events);
      return events;
    },
    async append(aggregate, after, event, origin) {
      const events = read(aggregate);
      const own = events.find((stored) => stored.envelope.id === origin.commandId);
      if (own) return own;
      if (after.version < events.length) throw new ConflictError(`somebody else appended version ${after.version + 1} first`);
      if (after.version > events.length) throw new Defect('an append would leave a version out');
      const version = after.version + 1;
      const bytes = encode(aggregate, version, event, origin, after.hash);
      const position = (positions.get(STREAM_OF[aggregate.kind]) ?? 0) + 1;
      const stored = decode(aggregate, position, bytes);
      checkChain([...events, stored]);
      positions.set(STREAM_OF[aggregate.kind], position);
      aggregates.set(keyOf(aggregate), [...(aggregates.get(keyOf(aggregate)) ?? []), { subject: eventSubject(aggregate, version, event.type), position, bytes }]);
      return stored;
    },
  };
}

function keyOf(aggregate: AggregateRef): string {
  return `${aggregate.kind}.${aggregate.id}`;
}
