import { JetStreamError } from '@nats-io/jetstream';
import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { Defect } from '../errors/errors.ts';
import type { StoredEvent } from '../events/envelope.ts';
import { decodeMessage } from './stored-message.ts';

/** The server's limit of subjects in one answer; above it the request is refused as a whole. */
const DIRECT_EVENTS_MAX = 1024;

const STATUS_END = 204;
const STATUS_NOTHING_FOUND = 404;
const STATUS_TOO_MANY = 413;

/**
 * All events whose subjects match, oldest first, in one request and one round trip, answered by any replica. Undefined
 * when they are more than `DIRECT_EVENTS_MAX`. May end early: the caller knows how many there must be. Throws what the
 * client throws, `Defect` on what is unknown.
 *
 * The client's own method for it leaves a subscription behind for five seconds after every call.
 */
export async function readDirect(nc: NatsConnection, stream: string, subjects: readonly string[], timeoutMs: number): Promise<StoredEvent[] | undefined> {
  const request = JSON.stringify({ multi_last: subjects, batch: DIRECT_EVENTS_MAX });
  const events: StoredEvent[] = [];
  for await (const message of await nc.requestMany(`$JS.API.DIRECT.GET.${stream}`, request, { strategy: 'sentinel', maxWait: timeoutMs })) {
    switch (message.headers?.code ?? 0) {
      case 0:
        events.push(toEvent(message));
        break;
      case STATUS_END:
      case STATUS_NOTHING_FOUND:
        return events;
      case STATUS_TOO_MANY:
        return undefined;
      default:
        throw new JetStreamError(`direct read: ${message.headers?.code} ${message.headers?.description}`);
    }
  }
  throw new errors.TimeoutError();
}

function toEvent(message: Msg): StoredEvent {
  const subject = message.headers?.get('Nats-Subject');
  const position = Number(message.headers?.get('Nats-Sequence'));
  if (subject === undefined || !Number.isSafeInteger(position)) throw new Defect('the answer to a direct read names no subject or sequence');
  return decodeMessage(subject, position, message.data);
}
