import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type ConsumerInfo, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { toTransient } from '../shared/nats/transient.ts';
import { compareConsumer, compareStream, type FieldChange } from './compare.ts';
import { CONSUMERS, STREAMS } from './consumers.ts';
import { MANAGED_BY, toConsumerConfig, toStreamConfig, type ConsumerDefinition, type StreamDefinition } from './definition.ts';

/** What is declared; tests plan with others. */
export type Declared = { readonly streams: readonly StreamDefinition[]; readonly consumers: readonly ConsumerDefinition[] };

/** Everything that `streams/` declares. */
export const DECLARED: Declared = { streams: STREAMS, consumers: CONSUMERS };

/** One thing on the server that is not as declared. */
export type Difference = {
  readonly kind: 'stream' | 'consumer';
  /** `JOBS`, or `JOBS/ledger-settle`. */
  readonly name: string;
  /** `leave`: it is not declared any more, and stays. */
  readonly action: 'create' | 'update' | 'leave';
  /** What differs; empty for `create` and `leave`. */
  readonly changes: readonly FieldChange[];
  /** Why it is never done without a person, or absent when it is harmless. */
  readonly destructive?: string;
};

/**
 * What would have to be done so that the server has what is declared; `[]` when it has. Things that are not ours are
 * left out. Throws `TransientError` when the server cannot be asked.
 */
export async function planStreams(nc: NatsConnection, replicas: number, declared: Declared = DECLARED): Promise<readonly Difference[]> {
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const differences: Difference[] = [];
    for (const definition of declared.streams) {
      differences.push(...(await planStream(manager, definition, replicas, declared.consumers)));
    }
    differences.push(...(await findUndeclared(manager, declared)));
    return differences;
  } catch (error) {
    throw toTransient(error);
  }
}

async function planStream(manager: JetStreamManager, definition: StreamDefinition, replicas: number, consumers: Declared['consumers']): Promise<Difference[]> {
  const name = definition.name;
  const own = consumers.filter((consumer) => consumer.stream === name);
  const info = await findStream(manager, name);
  if (!info) return [{ kind: 'stream', name, action: 'create', changes: [] }, ...own.map(creation)];
  const changes = compareStream(toStreamConfig(definition, replicas), info.config);
  const found: ConsumerInfo[] = [];
  for await (const consumer of manager.consumers.list(name)) found.push(consumer);
  return [...updates('stream', name, changes), ...own.flatMap((consumer) => planConsumer(consumer, found)), ...findRemovedConsumers(name, own, found)];
}

function planConsumer(definition: ConsumerDefinition, found: readonly ConsumerInfo[]): Difference[] {
  const info = found.find((consumer) => consumer.name === definition.durable);
  if (!info) return [creation(definition)];
  return updates('consumer', `${definition.stream}/${definition.durable}`, compareConsumer(toConsumerConfig(definition), info.config));
}

function creation(definition: ConsumerDefinition): Difference {
  return { kind: 'consumer', name: `${definition.stream}/${definition.durable}`, action: 'create', changes: [] };
}

function updates(kind: Difference['kind'], name: string, changes: readonly FieldChange[]): Difference[] {
  if (changes.length === 0) return [];
  const reasons = changes.flatMap(({ field, destructive }) => (destructive === undefined ? [] : [`${field}: ${destructive}`]));
  return [{ kind, name, action: 'update', changes, ...(reasons.length === 0 ? {} : { destructive: reasons.join('; ') }) }];
}

function findRemovedConsumers(stream: string, own: readonly ConsumerDefinition[], found: readonly ConsumerInfo[]): Difference[] {
  return found
    .filter((consumer) => isOurs(consumer.config.metadata) && !own.some((definition) => definition.durable === consumer.name))
    .map((consumer) => leftover('consumer', `${stream}/${consumer.name}`));
}

async function findUndeclared(manager: JetStreamManager, declared: Declared): Promise<Difference[]> {
  const undeclared: Difference[] = [];
  for await (const info of manager.streams.list()) {
    if (!isOurs(info.config.metadata) || declared.streams.some((definition) => definition.name === info.config.name)) continue;
    undeclared.push(leftover('stream', info.config.name));
  }
  return undeclared;
}

/** Taken out of the declarations, or made by a later release that somebody went back from: nothing is lost by leaving it. */
function leftover(kind: Difference['kind'], name: string): Difference {
  return { kind, name, action: 'leave', changes: [] };
}

function isOurs(metadata: Record<string, string> | undefined): boolean {
  return metadata?.['managed_by'] === MANAGED_BY.managed_by;
}

async function findStream(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
}
