import { ConflictError, Defect } from '../errors/errors.ts';
import { encode, type AggregateRef, type StoredEvent } from '../events/envelope.ts';
import type { EventStore } from './event-store.ts';
import { decodeMessage } from './stored-message.ts';
import { eventSubject, STREAM_OF } from './subjects.ts';

/** A log that lives as long as the process: for fast tests of what stands above. Events pass through their bytes. */
export function createMemoryStore(): EventStore {
  const aggregates = new Map<string, StoredEvent[]>();
  const positions = new Map<string, number>();
  return {
    async load(aggregate) {
      return [...(aggregates.get(keyOf(aggregate)) ?? [])];
    },
    async append(aggregate, after, event, origin) {
      const events = aggregates.get(keyOf(aggregate)) ?? [];
      const own = events.find((stored) => stored.envelope.id === origin.commandId);
      if (own) return own;
      if (after.version < events.length) throw new ConflictError(`somebody else appended version ${after.version + 1} first`);
      if (after.version > events.length || after.hash !== events.at(-1)?.hash) throw new Defect('an append does not follow the last event');
      const version = after.version + 1;
      const position = (positions.get(STREAM_OF[aggregate.kind]) ?? 0) + 1;
      const stored = decodeMessage(eventSubject(aggregate, version, event.type), position, encode(aggregate, version, event, origin, after.hash));
      positions.set(STREAM_OF[aggregate.kind], position);
      aggregates.set(keyOf(aggregate), [...events, stored]);
      return stored;
    },
  };
}

function keyOf(aggregate: AggregateRef): string {
  return `${aggregate.kind}.${aggregate.id}`;
}
