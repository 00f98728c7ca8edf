import { JetStreamApiCodes, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { toTransient } from '../shared/nats/transient.ts';
import { toStreamConfig, type StreamDefinition } from './definition.ts';

/**
 * Makes one stream when it is not there. For streams in memory alone, which a server that stands alone loses together
 * with their configuration; all others are applied by an operator. Several processes may do it at once. Throws
 * `TransientError` when the server cannot be asked.
 */
export async function ensureStream(nc: NatsConnection, definition: StreamDefinition, replicas: number): Promise<void> {
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    try {
      await manager.streams.info(definition.name);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound) throw error;
      await manager.streams.add(toStreamConfig(definition, replicas));
    }
  } catch (error) {
    throw toTransient(error);
  }
}
