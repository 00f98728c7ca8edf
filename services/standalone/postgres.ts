import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from './free-port.ts';
import { endOrphan } from './orphan.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { createCluster } from './postgres-cluster.ts';
import { choosePostgresIdentity } from './postgres-identity.ts';
import { spawnTied, waitFor, type Identity } from './processes.ts';
import { runOf, type ServerRun } from './server-run.ts';
import { keepTail } from './text-tail.ts';

/** A start takes a tenth of a second; after a crash the write-ahead log is replayed first. */
const READY_LIMIT_MS = 60_000;
/** A fast shutdown takes milliseconds, a last checkpoint on a slow disk some more. */
const STOP_GRACE_MS = 2_500;
/** One attempt to log in. */
const CONNECT_LIMIT_MS = 2_000;
/** Another program may take the chosen port first, or the workers of a killed server still leave; both pass. */
const START_ATTEMPTS = 20;
/** Between two attempts: with the number above, two seconds for the workers of a killed server to leave. */
const START_PAUSE_MS = 100;

/**
 * Settings of the server. Loopback only and no socket file, because nobody else needs it. Statements and values stay
 * out of its log: they hold what clients sent.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '64MB',
  max_connections: '60',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** Where and how an embedded Postgres runs. Port 0 lets the system choose; `password` is that of the first start. */
export interface PostgresOptions {
  readonly folder: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A running Postgres on loopback. */
export interface PostgresServer extends ServerRun {
  /** With user and password in it: a secret. */
  readonly url: string;
  readonly port: number;
}

/**
 * Starts the Postgres that npm brought, with its data in `folder`, and returns when `database` can be used.
 * @throws Error that says what to do, or with the server's own last words.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const binaries = await findPostgresBinaries();
  await mkdir(options.folder, { recursive: true, mode: 0o711 });
  const data = join(options.folder, 'data');
  const identity = await choosePostgresIdentity([data, binaries.postgres]);
  if (!existsSync(join(data, 'PG_VERSION'))) await createCluster({ initdb: binaries.initdb, data, identity, user: options.user, password: options.password });
  const orphan = await endOrphan({ pidFile: join(data, 'postmaster.pid'), mark: data, stopSignal: 'SIGINT' });
  // What the file names is no Postgres of ours: Postgres would only see that the number is taken, and refuse.
  if (!orphan) await rm(join(data, 'postmaster.pid'), { force: true });
  return startOnPort(options, { binaries, identity, data });
}

interface Prepared {
  readonly binaries: PostgresBinaries;
  readonly identity: Identity | undefined;
  readonly data: string;
}

async function startOnPort(options: PostgresOptions, prepared: Prepared): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port === 0 ? await findFreePort() : options.port;
    const started = await tryStart({ ...options, port }, prepared);
    if ('run' in started) return { ...started.run, port, url: urlOf(options, port, options.database) };
    if (attempt === START_ATTEMPTS) throw new Error(`Postgres did not start: ${started.lastWords}`);
    await new Promise((resolve) => setTimeout(resolve, START_PAUSE_MS));
  }
}

async function tryStart(options: PostgresOptions, prepared: Prepared): Promise<{ run: ServerRun } | { lastWords: string }> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const args = ['-D', prepared.data, '-p', String(options.port), ...settings];
  const child = spawnTied(prepared.binaries.postgres, args, { onParentDeath: 'SIGINT', identity: prepared.identity }, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: prepared.data,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
  const lastWords = keepTail(child.stderr);
  // SIGINT is the fast shutdown: open sessions are ended, nothing is lost.
  const run = runOf(child, 'SIGINT', STOP_GRACE_MS);
  let ended: string | undefined;
  void run.exited.then((end) => (ended = end.description));
  try {
    const up = await waitFor('the start of Postgres', READY_LIMIT_MS, async () => (ended !== undefined ? false : (await ensureDatabase(options)) || undefined));
    return up ? { run } : { lastWords: lastWords() || (ended ?? '') };
  } catch (error) {
    await run.stop();
    throw new Error(`Postgres did not start: ${lastWords()}`, { cause: error });
  }
}

/** True when the server let us in and the database is there; false while it is still starting. */
async function ensureDatabase(options: PostgresOptions): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(options, options.port, 'postgres'), connectionTimeoutMillis: CONNECT_LIMIT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [options.database]);
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(options.database)}`);
    return true;
  } catch (error) {
    if (isWrongPassword(error)) throw error;
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Class 28 of the SQL states is "invalid authorization": waiting does not help. */
function isWrongPassword(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('28') === true;
}

function urlOf(options: PostgresOptions, port: number, database: string): string {
  return `postgres://${encodeURIComponent(options.user)}:${encodeURIComponent(options.password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}
