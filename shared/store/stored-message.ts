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

/**
 * Makes sure that these are the first events of one aggregate, none missing, each naming the hash of the one before
 * it. Throws `Defect` when the log was tampered with or is torn.
 */
export function checkChain(events: readonly StoredEvent[]): void {
  for (const [index, stored] of events.entries()) {
    if (stored.version !== index + 1) throw new Defect(`version ${index + 1} of an aggregate is missing`);
    if (stored.envelope.prevhash !== events[index - 1]?.hash) throw new Defect(`event at position ${stored.position} does not follow the event before it`);
  }
}
