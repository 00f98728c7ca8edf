import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '../errors/errors.ts';
import { loadSettings, type Environment } from './load.ts';
import { readRunFile } from './run-file.ts';

/** File with the generated master key in the data folder. */
export const MASTER_KEY_FILE = 'master.key';
/** File with the demo organization in the data folder. */
export const DEMO_FILE = 'demo.json';

/** Where the parts of a running service are. */
export type ServiceAddresses = {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  /** Master key in base64. */
  readonly masterKey: string;
};

/**
 * Finds the running service for a command: `NATS_URL`, `DATABASE_URL` and `MASTER_KEY` when they are set, else what the
 * standalone edition wrote into `DATA_DIR`. Throws `ConfigurationError` that says what to set when there is none.
 */
export function findService(environment: Environment): ServiceAddresses {
  const settings = loadSettings(environment, ['DATA_DIR', 'NATS_URL', 'DATABASE_URL', 'MASTER_KEY']);
  const run = readRunFile(settings.DATA_DIR);
  const natsUrl = settings.NATS_URL ?? run?.nats_url;
  const databaseUrl = settings.DATABASE_URL ?? run?.database_url;
  const masterKey = settings.MASTER_KEY ?? readText(join(settings.DATA_DIR, MASTER_KEY_FILE))?.trim();
  if (natsUrl === undefined || databaseUrl === undefined || masterKey === undefined) {
    const missing = [natsUrl === undefined && 'NATS_URL', databaseUrl === undefined && 'DATABASE_URL', masterKey === undefined && 'MASTER_KEY'];
    throw new ConfigurationError([
      `No running service was found in ${settings.DATA_DIR}. Start it with "npm start", point DATA_DIR to its data folder, or set ${missing.filter(Boolean).join(', ')}.`,
    ]);
  }
  return { natsUrl, databaseUrl, masterKey };
}

/**
 * Finds the NATS of the running service, for what needs nothing else: `NATS_URL`, else what the standalone edition wrote
 * into `DATA_DIR`. Throws `ConfigurationError` that says what to set when there is none.
 */
export function findNats(environment: Environment): string {
  const { NATS_URL, DATA_DIR } = loadSettings(environment, ['NATS_URL', 'DATA_DIR']);
  const url = NATS_URL ?? readRunFile(DATA_DIR)?.nats_url;
  if (url === undefined) throw new ConfigurationError([`No running service was found in ${DATA_DIR}. Start it with "npm start", point DATA_DIR to its data folder, or set NATS_URL.`]);
  return url;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
