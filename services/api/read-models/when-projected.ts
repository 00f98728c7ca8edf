import type { ProjectionName } from '../../../projections/projection.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { Dependencies } from '../dependencies.ts';
import type { WatchedStream } from '../long-poll/log-watch.ts';

/** How long a read waits for its read model, in ms; it usually follows within 50. */
const PROJECTED_MS_MAX = 2_000;

const READ_MODELS: Readonly<Record<WatchedStream, ProjectionName>> = { JOBS: 'jobs', CREDITS: 'credits', DELIVERIES: 'deliveries' };

/**
 * Waits until the read model of a stream holds everything that the stream holds now, so that clients read what they
 * wrote, by whatever process (D49). Throws `TransientError('read_model')` when that takes too long, and
 * `TransientError('nats')`.
 */
export async function whenProjected(deps: Pick<Dependencies, 'logEnd' | 'positions'>, stream: WatchedStream): Promise<void> {
  const isThere = await deps.positions.waitForPosition(READ_MODELS[stream], await deps.logEnd(stream), PROJECTED_MS_MAX);
  if (!isThere) throw new TransientError('read_model', `the read model ${READ_MODELS[stream]} lags behind`);
}
