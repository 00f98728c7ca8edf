import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, type StoredMessage } from '../../../shared/consume/read-stream.ts';
import { CodedError } from '../../../shared/errors/errors.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import { decodeMessage } from '../../../shared/store/stored-message.ts';
import type { Findings } from './findings.ts';

type Head = { readonly version: number; readonly hash: string };

/** A part of a stream: up to the position `last`, and from 1 on, unless the events before `first` have aged out. */
export type Stretch = { readonly stream: string; readonly first: number; readonly last: number };

/**
 * Walks a stream up to a position and checks what makes it a log: no position is missing, every event fits the schema of
 * its version, lies on its own subject, and carries the hash of the event before it in its aggregate. Where the beginning
 * has aged out, so have the first events of some aggregates. Events that pass go to `visit`.
 */
export async function walkChains(nc: NatsConnection, { stream, first, last }: Stretch, findings: Findings, visit: (event: StoredEvent) => void): Promise<void> {
  if (first > last) return;
  const hasForgotten = first > 1;
  const heads = new Map<string, Head>();
  let expected = hasForgotten ? undefined : 1;
  for await (const message of readStream(nc, stream, Math.max(1, first), last)) {
    if (expected !== undefined && message.position !== expected) findings.add('chain', stream, `positions ${expected} to ${message.position - 1} are missing`);
    expected = message.position + 1;
    const event = read(message, findings);
    if (!event) continue;
    const subject = `${event.aggregate.kind}.${event.aggregate.id}`;
    const head = heads.get(subject);
    if (head || event.version === 1 || !hasForgotten) checkLink(event, head, subject, findings);
    heads.set(subject, { version: event.version, hash: event.hash });
    visit(event);
  }
}

function read(message: StoredMessage, findings: Findings): StoredEvent | undefined {
  try {
    return decodeMessage(message.subject, message.position, message.bytes);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    findings.add('schema', message.subject, `${error.message} (position ${message.position})`);
    return undefined;
  }
}

function checkLink(event: StoredEvent, head: Head | undefined, subject: string, findings: Findings): void {
  const at = `at position ${event.position}`;
  if (event.version !== (head?.version ?? 0) + 1) findings.add('chain', subject, `version ${event.version} follows version ${head?.version ?? 0} ${at}`);
  if (event.envelope.prevhash !== head?.hash) findings.add('chain', subject, `prevhash is not the hash of the event before ${at}`);
}
