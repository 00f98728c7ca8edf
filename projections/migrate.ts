import { join } from 'node:path';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { toTransient } from '../shared/postgres/transient.ts';

/** Wait for the database at the start, in ms. */
const CONNECT_MS_MAX = 5_000;

/**
 * Brings the tables of the read models up to date. All missing migrations run in one transaction; processes that start
 * together take turns. Throws `TransientError` when Postgres is away; what else fails is a defect of a migration.
 */
export async function migrate(databaseUrl: string, log: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_MS_MAX, application_name: 'migrate' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await runner({
      dbClient: client,
      // Compiled migrations lie beside their source maps, so the files are named by a pattern.
      useGlob: true,
      dir: join(import.meta.dirname, 'migrations', '*.{js,ts}'),
      ignorePattern: ['**/*.d.ts'],
      direction: 'up',
      migrationsTable: 'pgmigrations',
      migrationsSchema: 'public',
      schema: 'public',
      checkOrder: true,
      singleTransaction: true,
      advisoryLockMode: 'wait',
      log,
    });
  } catch (error) {
    throw toTransient(error);
  } finally {
    await client.end();
  }
}
