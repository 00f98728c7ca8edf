import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MASTER_KEY_FILE } from '../../shared/config/find-service.ts';
import { runFilePath, type RunFile } from '../../shared/config/run-file.ts';
import type { StandaloneConfig } from './config.ts';
import { makeDataFolder } from './data-folder.ts';
import { lockDataFolder } from './data-lock.ts';
import { keepNatsServer, keepPostgres } from './embedded-servers.ts';
import { findFreePort } from './free-port.ts';
import { requireFreePort } from './port-check.ts';
import type { Kept } from './keep-running.ts';
import { prepare } from './prepare.ts';
import { keepSecret, writePrivateFile } from './private-file.ts';
import type { Progress } from './progress.ts';
import { untilServing } from './readiness.ts';
import { keepService, type ServicePlan } from './services.ts';
import type { ServiceRun } from './service-process.ts';
import { composeWelcome, demoFilePath } from './welcome.ts';

const MASTER_KEY_BYTES = 32;

/** What the edition is given besides its configuration. */
export interface EditionContext {
  readonly progress: Progress;
  /** In the order in which they stop. */
  readonly services: readonly ServicePlan[];
  /** Aborted when the edition is told to stop while it is still starting. */
  readonly stopping: AbortSignal;
  /** Registers how to undo a step; undone in the opposite order. */
  readonly onStop: (undo: () => Promise<void> | void) => void;
  readonly onBadConfiguration: (service: string) => void;
}

/** Addresses of the servers below the services. */
interface Servers {
  readonly natsUrl: string;
  readonly natsMonitorUrl: string | undefined;
  readonly databaseUrl: string;
}

/**
 * Starts everything on this machine, from the claim on the data folder to the greeting.
 * @throws Error with a sentence for the operator; the abort reason when it was told to stop.
 */
export async function startEdition(config: StandaloneConfig, context: EditionContext): Promise<void> {
  const { progress, stopping, onStop } = context;
  await makeDataFolder(config.dataFolder);
  const lock = lockDataFolder(config.dataFolder);
  onStop(() => lock.release());
  if (config.port !== 0) await requireFreePort(config.port);
  const port = config.port === 0 ? await findFreePort() : config.port;
  const publicUrl = (config.publicUrl ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  const masterKey = config.masterKey ?? (await keepSecret(join(config.dataFolder, MASTER_KEY_FILE), () => randomBytes(MASTER_KEY_BYTES).toString('base64')));

  const servers = await startServers(config, context);
  stopping.throwIfAborted();
  const { dataFolder, natsReplicas } = config;
  const hadDemo = existsSync(demoFilePath(dataFolder));
  await progress.step('Preparing streams and tables', () => prepare({ dataFolder, publicUrl, masterKey, natsReplicas, durabilityCheck: config.durabilityCheck, say: progress.say, ...servers }));
  stopping.throwIfAborted();

  await progress.step('Starting services', () => startServices({ ...config.passedOn, ...serviceEnvironment(config, servers, port, publicUrl, masterKey) }, port, context));
  stopping.throwIfAborted();
  await announce(dataFolder, {
    pid: process.pid,
    base_url: publicUrl,
    nats_url: servers.natsUrl,
    ...(servers.natsMonitorUrl === undefined ? {} : { nats_monitor_url: servers.natsMonitorUrl }),
    database_url: servers.databaseUrl,
  });
  onStop(() => rm(runFilePath(dataFolder), { force: true }));
  progress.say(composeWelcome(dataFolder, publicUrl, !hadDemo));
}

async function startServers(config: StandaloneConfig, context: EditionContext): Promise<Servers> {
  const { progress, stopping, onStop } = context;
  let { natsUrl, natsMonitorUrl, databaseUrl } = config;
  if (natsUrl === undefined) {
    const nats = await progress.step('Starting nats-server', () => keepNatsServer(config.dataFolder, config.natsServerBin, progress.say));
    onStop(() => nats.stop());
    natsUrl = nats.current().url;
    natsMonitorUrl = nats.current().monitorUrl;
  }
  stopping.throwIfAborted();
  if (databaseUrl === undefined) {
    const postgres = await progress.step('Starting Postgres', () => keepPostgres(config.dataFolder, progress.say));
    onStop(() => postgres.stop());
    databaseUrl = postgres.current().url;
  }
  return { natsUrl, natsMonitorUrl, databaseUrl };
}

function serviceEnvironment(config: StandaloneConfig, servers: Servers, port: number, publicUrl: string, masterKey: string): Record<string, string> {
  return {
    TZ: 'UTC',
    // One machine of somebody who tries the service warns; a production set-up refuses.
    DURABILITY_CHECK: config.durabilityCheck,
    DATA_DIR: config.dataFolder,
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    NATS_URL: servers.natsUrl,
    ...(servers.natsMonitorUrl === undefined ? {} : { NATS_MONITOR_URL: servers.natsMonitorUrl }),
    DATABASE_URL: servers.databaseUrl,
    MASTER_KEY: masterKey,
  };
}

async function startServices(environment: Record<string, string>, port: number, context: EditionContext): Promise<void> {
  const { progress, stopping, onStop, onBadConfiguration } = context;
  const kept: Kept<ServiceRun>[] = [];
  // They stop in the order of the plan, and what starts last stops first.
  for (const plan of context.services.toReversed()) {
    const service = await keepService(plan, { environment, say: progress.say, onBadConfiguration });
    onStop(() => service.stop());
    kept.push(service);
  }
  const anyIsHeld = (): boolean => kept.some((service) => service.current().isHeld());
  const allSaidReady = (): boolean => kept.every((service) => service.current().isReady() || service.current().isHeld());
  const isServing = await untilServing({ port, stopping, allSaidReady, anyIsHeld });
  if (anyIsHeld()) progress.say('WARNING: the log is older than the read models, or another one. Nothing is converted and nothing written until you decide which is right: see "Restore" in docs/operations.md.');
  else if (!isServing) progress.say('WARNING: the read models do not follow the log yet. See "npm run -s projections -- status" and docs/operations.md.');
}

async function announce(dataFolder: string, contents: RunFile): Promise<void> {
  await writePrivateFile(runFilePath(dataFolder), `${JSON.stringify(contents, null, 2)}\n`);
}
