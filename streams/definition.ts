import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';

/** Mark in the metadata of everything that is declared here; what others made in the same account is left alone. */
export const MANAGED_BY = { managed_by: 'file-conversion-service' } as const;

/** Services that own a stream or a consumer. */
export type Owner = 'api' | 'importer' | 'converter' | 'ledger' | 'notifier' | 'operator';

/**
 * A stream as it must be. What is not said here is the server's default and stays as an operator set it, placement
 * and size among them; the number of replicas comes from `NATS_REPLICAS`.
 */
export type StreamDefinition = {
  readonly name: string;
  /** The service that writes it. */
  readonly owner: Owner;
  readonly description: string;
  readonly config: Omit<Partial<StreamConfig>, 'name' | 'description' | 'metadata' | 'num_replicas'> & { readonly subjects: string[] };
};

/** A durable pull consumer of one worker as it must be. */
export type ConsumerDefinition = {
  readonly stream: string;
  /** `<service>-<purpose>`. */
  readonly durable: string;
  readonly owner: Owner;
  readonly description: string;
  /** Subjects it gets; any other is not delivered. */
  readonly filters: readonly string[];
  /** A message that is neither acknowledged nor said to be in work for this long is delivered again. */
  readonly ackWaitMs: number;
  /** Messages handed out at once, those that wait to be tried again included. */
  readonly ackPendingMax: number;
};

/** Configuration of a stream as the server is asked for it. */
export function toStreamConfig(definition: StreamDefinition, replicas: number): Partial<StreamConfig> & { name: string; subjects: string[] } {
  return {
    ...definition.config,
    name: definition.name,
    description: definition.description,
    num_replicas: replicas,
    metadata: { ...MANAGED_BY, owner: definition.owner },
  };
}

/** Configuration of a consumer as the server is asked for it. It never gives up on a message: the application parks (D95). */
export function toConsumerConfig(definition: ConsumerDefinition): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: definition.durable,
    description: definition.description,
    ack_policy: 'explicit',
    deliver_policy: 'all',
    replay_policy: 'instant',
    ack_wait: definition.ackWaitMs * 1_000_000,
    max_ack_pending: definition.ackPendingMax,
    max_deliver: -1,
    filter_subjects: [...definition.filters],
    metadata: { ...MANAGED_BY, owner: definition.owner },
  };
}
