import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { errors, RequestError } from '@nats-io/transport-node';
import { TransientError } from '../errors/errors.ts';

/** JetStream answers with this status when it is not able to serve just now: no leader, no quorum, no space. */
const STATUS_UNAVAILABLE = 503;
/** "stream not found": also what a request for a stream that was not applied yet, or not everywhere, is answered. */
const CODE_STREAM_NOT_FOUND = 10059;

const AWAY = [
  errors.TimeoutError,
  errors.NoRespondersError,
  errors.ConnectionError,
  errors.ClosedConnectionError,
  errors.DrainingConnectionError,
  JetStreamError,
] as const;

/**
 * What an error of the NATS client is to us: `TransientError('nats')` when the server did not answer, is away, or has
 * no leader; every other error as it came.
 */
export function toTransient(error: unknown): unknown {
  return isAway(error) ? new TransientError('nats', 'NATS does not answer', { cause: error }) : error;
}

function isAway(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.status === STATUS_UNAVAILABLE || error.code === CODE_STREAM_NOT_FOUND;
  if (error instanceof RequestError) return !(error.cause instanceof errors.PermissionViolationError);
  if (AWAY.some((kind) => error instanceof kind)) return true;
  // "JetStream not enabled", a class the client does not export, is how it says that nobody answered, for example
  // during an election; its cause tells.
  return error instanceof Error && error.cause !== undefined && isAway(error.cause);
}
