import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, type StoredMessage } from '../../../shared/consume/read-stream.ts';
import { CodedError } from '../../../shared/errors/errors.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import { decodeMessage } from '../../../shared/store/stored-message.ts';
import type { Findings } from './findings.ts';

type Head = { readonly version: number; readonly hash: string };

/**
 * Walks a stream from its first event up to the position `last` and checks what makes it a log: no position is missing,
 * every event fits the schema of its version, lies on its own subject, and carries the hash of the event before it in
 * its aggregate. Events that pass go to `visit`.
 */
export async function walkChains(nc: NatsConnection, { stream, last }: { readonly stream: string; readonly last: number }, findings: Findings, visit: (event: StoredEvent) => void): Promise<void> {
  const heads = new Map<string, Head>();
  let expected = 1;
  for await (const message of readStream(nc, stream, 1, last)) {
    if (message.position !== expected) findings.add('chain', stream, `positions ${expected} to ${message.position - 1} are missing`);
    expected = message.position + 1;
    const event = read(message, findings);
    if (!event) continue;
    const subject = `${event.aggregate.kind}.${event.aggregate.id}`;
    checkLink(event, heads.get(subject), subject, findings);
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
