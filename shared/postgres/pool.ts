import pg from 'pg';
import type { Logger } from '../log/log.ts';

/** Connections of one process; a few processes fit into the hundred that Postgres has by default. */
const CONNECTIONS_MAX = 8;
/** Wait for a connection, also for a free one of the pool, in ms; longer and the client has gone. */
const CONNECT_MS_MAX = 3_000;
/** One statement, in ms; a list that takes longer fails instead of piling up. */
const STATEMENT_MS_MAX = 5_000;
/** How much longer than the server's own limit the answer is waited for, in ms; for a network that swallows it. */
const ANSWER_EXTRA_MS = 3_000;
/** Wait for a lock, in ms; a rebuild takes its locks for a moment only. */
const LOCK_MS_MAX = 4_000;
/** Idle inside a transaction, in ms; a process that hangs must not hold locks for ever. */
const IDLE_IN_TRANSACTION_MS_MAX = 60_000;
/** Unused connections are given back after this time, in ms. */
const IDLE_MS_MAX = 30_000;

/** Options that every connection has: all its waits end. */
function connectionOptions(databaseUrl: string, applicationName: string, statementMsMax: number): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: statementMsMax,
    query_timeout: statementMsMax + ANSWER_EXTRA_MS,
    lock_timeout: LOCK_MS_MAX,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    keepAlive: true,
  };
}

/** A bounded pool of connections. It connects when it is first asked; errors go through `toTransient` at the caller. */
export function createPool(databaseUrl: string, logger: Logger, applicationName = 'file-conversion'): pg.Pool {
  const pool = new pg.Pool({ ...connectionOptions(databaseUrl, applicationName, STATEMENT_MS_MAX), max: CONNECTIONS_MAX, idleTimeoutMillis: IDLE_MS_MAX });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle Postgres connection broke'));
  return pool;
}

/**
 * One connection of its own, not connected yet. `onLost` is called when it breaks or ends, also while nothing is asked.
 * Statements that go over whole tables need more time than the default.
 */
export function createClient(databaseUrl: string, applicationName: string, onLost: (error?: Error) => void, statementMsMax = STATEMENT_MS_MAX): pg.Client {
  const client = new pg.Client(connectionOptions(databaseUrl, applicationName, statementMsMax));
  client.on('error', onLost);
  client.on('end', () => onLost());
  return client;
}
