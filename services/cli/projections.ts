import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool } from 'pg';
import { compareReadModels, type Comparison } from '../../projections/compare.ts';
import { readModelHealth } from '../../projections/health.ts';
import { migrate } from '../../projections/migrate.ts';
import { PROJECTION_NAMES } from '../../projections/projection.ts';
import { rebuild } from '../../projections/rebuild.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { readRunFile } from '../../shared/config/run-file.ts';
import { ConfigurationError } from '../../shared/errors/errors.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { EXIT, runCommands, UsageError, type Command } from './command.ts';
import { withConnection } from './connection.ts';

const options = { json: { type: 'boolean' } } as const;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const sayAside = (line: string): void => void process.stderr.write(`${line}\n`);

const status: Command = {
  name: 'status',
  usage: '[--json]',
  summary: 'Shows how far each read model is. Exit code 1 when one of them stands still.',
  options,
  arguments: [],
  run: (values) =>
    withReadModels(async (nc, pool) => {
      const models = await readModelHealth(nc, pool);
      if (values['json'] === true) say(JSON.stringify({ read_models: models.map(({ name, position, lastPosition, lag, halted }) => ({ name, position, last_position: lastPosition, lag, halted: halted ?? null })) }));
      else for (const { name, position, lastPosition, lag, halted } of models) say(`${name.padEnd(10)} position ${position} of ${lastPosition}, lag ${lag}${halted === undefined ? '' : `, HALTED: ${halted}`}`);
      return models.some(({ halted }) => halted !== undefined) ? EXIT.failed : 0;
    }),
};

const migrateCommand: Command = {
  name: 'migrate',
  usage: '',
  summary: 'Brings the tables of the read models up to date. The standalone edition does this at every start.',
  options: {},
  arguments: [],
  async run() {
    // The tables come before anything else runs, so neither NATS nor a master key is asked for.
    const { DATABASE_URL, DATA_DIR } = loadSettings(process.env, ['DATABASE_URL', 'DATA_DIR']);
    const url = DATABASE_URL ?? readRunFile(DATA_DIR)?.database_url;
    if (url === undefined) throw new ConfigurationError([`No running service was found in ${DATA_DIR}. Point DATA_DIR to its data folder, or set DATABASE_URL.`]);
    await migrate(url, sayAside);
    return { migrated: true };
  },
};

const rebuildCommand: Command = {
  name: 'rebuild',
  usage: 'NAME',
  summary: `Makes a read model (${PROJECTION_NAMES.join(', ')}) anew out of the log and swaps it in; the service goes on meanwhile.`,
  options: {},
  arguments: ['NAME'],
  run: (_values, [text]) => {
    const name = PROJECTION_NAMES.find((known) => known === text);
    if (name === undefined) throw new UsageError(`NAME must be one of ${PROJECTION_NAMES.join(', ')}`);
    return withConnection(async ({ nc, service }) => {
      const { position, durationMs } = await rebuild(nc, service.databaseUrl, name, sayAside);
      return { name, position, duration_ms: durationMs };
    });
  },
};

const compare: Command = {
  name: 'compare',
  usage: '[--json]',
  summary: 'Replays the log beside every read model and compares row by row. Exit code 1 when any row differs.',
  options,
  arguments: [],
  run: (values) =>
    withReadModels(async (nc, pool) => {
      const comparisons = await compareReadModels(nc, pool, sayAside);
      if (values['json'] === true) say(JSON.stringify({ read_models: comparisons.map(toJson) }));
      else for (const comparison of comparisons) sayComparison(comparison);
      return comparisons.some(({ differing }) => differing.length > 0) ? EXIT.failed : 0;
    }),
};

async function withReadModels<T>(work: (nc: NatsConnection, pool: Pool) => Promise<T>): Promise<T> {
  return withConnection(async ({ nc, service, logger }) => {
    const pool = createPool(service.databaseUrl, logger);
    try {
      return await work(nc, pool);
    } finally {
      await pool.end();
    }
  });
}

function toJson({ sha256Replayed, ...rest }: Comparison): object {
  return { ...rest, sha256_replayed: sha256Replayed };
}

function sayComparison({ name, rows, position, differing, sha256 }: Comparison): void {
  say(`${name.padEnd(10)} ${rows} rows at position ${position}, ${differing.length} differ, sha256 ${sha256}`);
  for (const key of differing) say(`  differs: ${key}`);
}

await runCommands('projections', [status, migrateCommand, rebuildCommand, compare], process.argv.slice(2));
