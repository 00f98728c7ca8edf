import { JetStreamApiCodes, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { DomainError } from '../shared/errors/errors.ts';
import { toTransient } from '../shared/nats/transient.ts';
import { MANAGED_BY } from './definition.ts';
import { DECLARED, type Declared } from './plan.ts';

/**
 * Removes a durable consumer that was once declared here, and with it the knowledge how far its worker was: declared again
 * under the same name it begins with the first message. Throws `DomainError` (`declared`: it would be made anew; `not_found`;
 * `not_ours`), `TransientError` when the server is away.
 */
export async function removeConsumer(nc: NatsConnection, stream: string, durable: string, declared: Declared = DECLARED): Promise<void> {
  if (declared.consumers.some((consumer) => consumer.stream === stream && consumer.durable === durable)) {
    throw new DomainError('declared', `${stream}/${durable} is declared in streams/consumers.ts and would be made anew; take it out there first`);
  }
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const { config } = await manager.consumers.info(stream, durable);
    if (config.metadata?.['managed_by'] !== MANAGED_BY.managed_by) throw new DomainError('not_ours', `${stream}/${durable} was made by somebody else; remove it with what made it`);
    await manager.consumers.delete(stream, durable);
  } catch (error) {
    if (error instanceof JetStreamApiError && (error.code === JetStreamApiCodes.ConsumerNotFound || error.code === JetStreamApiCodes.StreamNotFound)) {
      throw new DomainError('not_found', `there is no consumer ${durable} on a stream ${stream}`);
    }
    throw toTransient(error);
  }
}
