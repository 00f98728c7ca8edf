import { Defect } from '../errors/errors.ts';
import { decode, type StoredEvent } from '../events/envelope.ts';
import { eventSubject, parseSubject } from './subjects.ts';

/**
 * The event of a message of the log. Throws `Defect` when it is unknown, or when its subject is not the one that its
 * own envelope says, so that no message can pass for the event of another aggregate or version.
 */
export function decodeMessage(subject: string, position: number, bytes: Uint8Array): StoredEvent {
  const stored = decode(parseSubject(subject), position, bytes);
  if (eventSubject(stored.aggregate, stored.version, stored.event.type) !== subject) {
    throw new Defect(`event at position ${position} lies on the subject of another version or type`);
  }
  return stored;
}

/** The last event of an aggregate that a reader has applied. */
export type ChainHead = { readonly version: number; readonly hash: string };

/** Throws `Defect` unless the event is the next one of its aggregate and names the hash of the one before it. */
export function requireNext(stored: StoredEvent, head: ChainHead | undefined): void {
  if (stored.version !== (head?.version ?? 0) + 1) {
    throw new Defect(`event at position ${stored.position} is version ${stored.version} of its aggregate, after version ${head?.version ?? 0}`);
  }
  if (stored.envelope.prevhash !== head?.hash) throw new Defect(`event at position ${stored.position} does not follow the event before it`);
}

/**
 * Makes sure that these are the first events of one aggregate, none missing, each naming the hash of the one before
 * it. Throws `Defect` when the log was tampered with or is torn.
 */
export function checkChain(events: readonly StoredEvent[]): void {
  for (const [index, stored] of events.entries()) requireNext(stored, events[index - 1]);
}
