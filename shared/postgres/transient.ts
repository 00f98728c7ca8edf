import pg from 'pg';
import { TransientError } from '../errors/errors.ts';

/** Classes of SQLSTATE that say: not now. Connection (08), resources (53), operator intervention (57). */
const CLASSES_AWAY: ReadonlySet<string> = new Set(['08', '53', '57']);
/** Serialization failure, deadlock, lock timeout, idle transaction ended, read-only replica after a fail-over. */
const STATES_AWAY: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '25P03', '25006']);
/** What the operating system answers when the other end is away. */
const SYSTEM_AWAY: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN',
]);

/**
 * What an error of the Postgres client is to us: `TransientError('postgres')` when the server is away, too busy, or
 * gave up waiting; every other error as it came, which is a defect.
 */
export function toTransient(error: unknown): unknown {
  return isAway(error) ? new TransientError('postgres', 'Postgres does not answer', { cause: error }) : error;
}

function isAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isStateAway(error.code ?? '');
  if (!(error instanceof Error)) return false;
  if ('code' in error) return typeof error.code === 'string' && SYSTEM_AWAY.has(error.code);
  // The driver reports the end of a connection, and its own timeouts, as bare errors without any code.
  return error.constructor === Error;
}

function isStateAway(state: string): boolean {
  return CLASSES_AWAY.has(state.slice(0, 2)) || STATES_AWAY.has(state);
}
