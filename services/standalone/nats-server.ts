import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { endOrphan } from './orphan.ts';
import { spawnTied, waitFor } from './processes.ts';
import { runOf, type ServerRun } from './server-run.ts';
import { keepTail } from './text-tail.ts';

/** A start takes 50 ms; after a crash the index of a large store is rebuilt by a scan. */
const READY_LIMIT_MS = 60_000;
/** It ends in milliseconds; with many subjects it first writes its index. */
const STOP_GRACE_MS = 1_500;
/** One look at the health page. */
const HEALTH_LIMIT_MS = 1_000;
/** A legal request of 1 MB must fit into one event, encrypted and encoded (D85). */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;
/** For streams in memory (rate counters); everything else is on disk. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;
/** The server starts a new log file at this size and keeps two. */
const LOG_SIZE_BYTES = 10 * 1024 * 1024;

/** Name and password of the one user that the server knows. */
export interface NatsCredentials {
  readonly user: string;
  readonly password: string;
}

/** Membership in a cluster on loopback. */
export interface NatsCluster {
  readonly name: string;
  readonly port: number;
  readonly routePorts: readonly number[];
}

/** Where and how an embedded nats-server runs. Port 0 lets the system choose that one. */
export interface NatsServerOptions {
  readonly binary: string;
  readonly folder: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly credentials: NatsCredentials;
  readonly serverName?: string;
  readonly cluster?: NatsCluster;
}

/** A running nats-server with JetStream on loopback. */
export interface NatsServer extends ServerRun {
  /** With user and password in it: a secret. */
  readonly url: string;
  readonly port: number;
  readonly monitorPort: number;
  /** Health and statistics over HTTP, without a password, on loopback only. */
  readonly monitorUrl: string;
}

const portsFileSchema = z.object({ nats: z.array(z.url()).min(1), monitoring: z.array(z.url()).min(1) });

/**
 * Starts nats-server with its store in `folder` and returns when it is healthy. Every write is synced to disk before
 * it is acknowledged: an event that was acknowledged survives a power cut.
 * @throws Error with the server's own last words when it does not come up.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { folder } = options;
  const configuration = join(folder, 'nats-server.conf');
  const portsFolder = join(folder, 'ports');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // The server takes no lock on its store, so a second one on the same files must be kept out by us.
  await endOrphan({ pidFile: join(folder, 'nats-server.pid'), mark: configuration, stopSignal: 'SIGTERM' });
  await rm(portsFolder, { recursive: true, force: true });
  await mkdir(portsFolder, { mode: 0o700 });
  await rm(configuration, { force: true });
  await writeFile(configuration, renderConfiguration(options, portsFolder), { mode: 0o600 });

  const child = spawnTied(options.binary, ['-c', configuration], { onParentDeath: 'SIGTERM' }, { stdio: ['ignore', 'ignore', 'pipe'] });
  const lastWords = keepTail(child.stderr);
  const run = runOf(child, 'SIGTERM', STOP_GRACE_MS);
  let ended: string | undefined;
  void run.exited.then((end) => (ended = end.description));
  try {
    return await waitFor('the start of nats-server', READY_LIMIT_MS, async () => {
      if (ended !== undefined) throw new Error(`nats-server ended while starting (${ended})`);
      const ports = await readPorts(portsFolder);
      if (ports === undefined || !(await isHealthy(ports.monitorUrl))) return undefined;
      return { ...run, ...ports, url: urlOf(options.credentials, ports.port) };
    });
  } catch (error) {
    await run.kill();
    throw new Error(`nats-server did not start: ${lastWords() || (await readLogTail(folder))}`, { cause: error });
  }
}

function urlOf(credentials: NatsCredentials, port: number): string {
  return `nats://${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@127.0.0.1:${port}`;
}

function renderConfiguration(options: NatsServerOptions, portsFolder: string): string {
  const { folder, credentials, cluster } = options;
  return [
    // -1 is its word for "any free port".
    `server_name: ${text(options.serverName ?? 'standalone')}`,
    `listen: "127.0.0.1:${options.port || -1}"`,
    `http: "127.0.0.1:${options.monitorPort || -1}"`,
    `ports_file_dir: ${text(portsFolder)}`,
    `pid_file: ${text(join(folder, 'nats-server.pid'))}`,
    `log_file: ${text(join(folder, 'nats-server.log'))}`,
    `logfile_size_limit: ${LOG_SIZE_BYTES}`,
    'logfile_max_num: 2',
    `max_payload: ${MAX_PAYLOAD_BYTES}`,
    `jetstream { store_dir: ${text(join(folder, 'store'))}, max_memory_store: ${MAX_MEMORY_BYTES}, sync_interval: always }`,
    `authorization { user: ${text(credentials.user)}, password: ${text(credentials.password)} }`,
    ...(cluster === undefined ? [] : [renderCluster(cluster)]),
    '',
  ].join('\n');
}

function renderCluster(cluster: NatsCluster): string {
  const routes = cluster.routePorts.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  return `cluster { name: ${JSON.stringify(cluster.name)}, listen: "127.0.0.1:${cluster.port}", routes: [${routes}] }`;
}

/** The configuration language takes JSON strings. */
function text(value: string): string {
  return JSON.stringify(value);
}

async function readPorts(folder: string): Promise<Pick<NatsServer, 'port' | 'monitorPort' | 'monitorUrl'> | undefined> {
  const file = (await readdir(folder)).find((name) => name.endsWith('.ports'));
  if (file === undefined) return undefined;
  const contents = await readFile(join(folder, file), 'utf8');
  // The server writes the file in place, so a first look may find a part of it.
  if (!contents.trimEnd().endsWith('}')) return undefined;
  const ports = portsFileSchema.parse(JSON.parse(contents));
  const [nats, monitoring] = [ports.nats[0], ports.monitoring[0]];
  if (nats === undefined || monitoring === undefined) return undefined;
  return { port: Number(new URL(nats).port), monitorPort: Number(new URL(monitoring).port), monitorUrl: monitoring };
}

async function isHealthy(monitorUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function readLogTail(folder: string): Promise<string> {
  const log = await readFile(join(folder, 'nats-server.log'), 'utf8').catch(() => '');
  return log.trim().split('\n').slice(-3).join('\n');
}
