import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigurationError, Defect } from '../shared/errors/errors.ts';
import { toTransient } from '../shared/nats/transient.ts';
import { toConsumerConfig, toStreamConfig } from './definition.ts';
import { DECLARED, planStreams, type Declared, type Difference } from './plan.ts';

/** How to apply. */
export type ApplyOptions = {
  /** Copies of every stream (`NATS_REPLICAS`). */
  readonly replicas: number;
  /** Show the differences and change nothing. */
  readonly dryRun?: boolean;
  /** Told one line for each difference. */
  readonly log: (line: string) => void;
  readonly declared?: Declared;
};

/**
 * Makes streams, buckets and consumers as declared; asked again it finds nothing to do. What is not declared any more is
 * left as it is, so that one can go back over a release that added something. When any difference is
 * destructive it changes nothing at all. Returns the differences. Throws `ConfigurationError` naming every destructive
 * one, `TransientError` when the server is away.
 */
export async function applyStreams(nc: NatsConnection, options: ApplyOptions): Promise<readonly Difference[]> {
  const declared = options.declared ?? DECLARED;
  const differences = await planStreams(nc, options.replicas, declared);
  for (const line of differences.flatMap(describeDifference)) options.log(line);
  if (options.dryRun === true) return differences;
  requireHarmless(differences);
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    for (const difference of differences.filter(({ action }) => action !== 'leave')) await applyOne(manager, difference, declared, options.replicas);
  } catch (error) {
    throw toTransient(error);
  }
  return differences;
}

/** A difference as lines that a person reads. */
export function describeDifference(difference: Difference): string[] {
  if (difference.action === 'leave') return [`leave ${difference.kind} ${difference.name}: ${whyLeft(difference)}`];
  const warning = difference.destructive === undefined ? '' : ` (REFUSED: ${difference.destructive})`;
  return [
    `${difference.action} ${difference.kind} ${difference.name}${warning}`,
    ...difference.changes.map(({ field, from, to }) => `  ${field}: ${JSON.stringify(from) ?? 'unset'} -> ${JSON.stringify(to)}`),
  ];
}

function whyLeft({ kind, name }: Difference): string {
  if (kind === 'stream') return 'it is not declared any more; it stays with its messages, and with the disk they take';
  return `it is not declared any more; it holds nothing back and remembers its position. To remove it: npm run -s streams -- remove-consumer ${name.replace('/', ' ')}`;
}

function requireHarmless(differences: readonly Difference[]): void {
  const problems = differences.flatMap(({ action, kind, name, destructive }) =>
    destructive === undefined ? [] : [`will not ${action} ${kind} ${name}: ${destructive}. Go on with the release that made it so, or do it by hand with the nats command if it is meant.`],
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
}

async function applyOne(manager: JetStreamManager, difference: Difference, declared: Declared, replicas: number): Promise<void> {
  if (difference.kind === 'stream') {
    const definition = declared.streams.find(({ name }) => name === difference.name);
    if (!definition) throw new Defect('a stream that is not declared cannot be applied');
    const config = toStreamConfig(definition, replicas);
    await (difference.action === 'create' ? manager.streams.add(config) : manager.streams.update(config.name, config));
    return;
  }
  const definition = declared.consumers.find(({ stream, durable }) => `${stream}/${durable}` === difference.name);
  if (!definition) throw new Defect('a consumer that is not declared cannot be applied');
  const config = toConsumerConfig(definition);
  await (difference.action === 'create' ? manager.consumers.add(definition.stream, config) : manager.consumers.update(definition.stream, definition.durable, config));
}
