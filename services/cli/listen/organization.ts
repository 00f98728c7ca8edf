import type { NatsConnection } from '@nats-io/transport-node';
import { readStream, streamExtent } from '../../../shared/consume/read-stream.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import { parseSubject, STREAM_OF, typeFilter } from '../../../shared/store/subjects.ts';
import { UsageError } from '../command.ts';

/** Organizations that an error names at most. */
const NAMED_MAX = 10;

/**
 * The organization whose events are forwarded: the one that is wanted, or the only one there is. Throws `DomainError`
 * when there is no such one, `UsageError` when there are several, `TransientError`.
 */
export async function chooseOrganization(nc: NatsConnection, wanted: string | undefined): Promise<string> {
  const ids: string[] = [];
  const { last } = await streamExtent(nc, STREAM_OF.account);
  for await (const { subject } of readStream(nc, STREAM_OF.account, 1, last, [typeFilter('account.created')])) ids.push(parseSubject(subject).id);
  if (wanted !== undefined) {
    if (!ids.includes(wanted)) throw new DomainError('not_found', `there is no organization ${wanted}`);
    return wanted;
  }
  const [only, ...others] = ids;
  if (only === undefined) throw new DomainError('not_found', 'there is no organization yet; create one with: npm run -s admin -- org create');
  if (others.length > 0) throw new UsageError(`there are ${ids.length} organizations; say whose events with --org, such as ${ids.slice(0, NAMED_MAX).join(', ')}`);
  return only;
}
