import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../services/standalone/free-port.ts';
import { startNatsServer, type NatsCluster, type NatsServer } from '../../services/standalone/nats-server.ts';
import { NATS_SERVER_FLOOR, searchNatsServer } from '../../services/standalone/nats-version.ts';
import { startPostgres as startPostgresServer, type PostgresServer } from '../../services/standalone/postgres.ts';
import { waitFor } from '../../services/standalone/processes.ts';

/** Three servers elect a leader within a second or two; a busy machine takes longer. */
const CLUSTER_LIMIT_MS = 30_000;

/** A real server of a test. It keeps its url, data and port over `restart()`. */
export interface TestServer {
  /** With user and password in it. */
  readonly url: string;
  /** Ends it in order and removes its folder. */
  stop(): Promise<void>;
  /** kill -9; its data stay. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port, after a kill or while it runs. */
  restart(): Promise<void>;
}

/** A real nats-server with JetStream, synced to disk at every write. */
export interface TestNats extends TestServer {
  /** Health and statistics over HTTP. */
  readonly monitorUrl: string;
  readonly folder: string;
}

/** Starts a nats-server of its own, with an empty store, on ports that the system chooses. */
export async function startNats(member: { serverName?: string; cluster?: NatsCluster; port?: number } = {}): Promise<TestNats> {
  const { use } = await searchNatsServer(process.env['NATS_SERVER_BIN']);
  if (use === undefined) throw new Error(`no nats-server ${NATS_SERVER_FLOOR} or later; run npm run setup`);
  const folder = await mkdtemp(join(tmpdir(), 'test-nats-'));
  const { port = 0, ...rest } = member;
  const options = { ...rest, binary: use.path, folder, port, monitorPort: 0, credentials: { user: 'test', password: randomBytes(16).toString('hex') } };
  let server: NatsServer = await startNatsServer(options);
  return {
    url: server.url,
    folder,
    monitorUrl: server.monitorUrl,
    kill: () => server.kill(),
    restart: async () => {
      await server.kill();
      server = await startNatsServer({ ...options, port: server.port, monitorPort: server.monitorPort });
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A cluster of real nats-servers on loopback. */
export interface TestNatsCluster {
  readonly nodes: readonly TestNats[];
  /** One url for each node, for clients that know them all. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Starts `size` nats-servers as one cluster (R3 for 3) and waits until they have a leader. */
export async function startNatsCluster(size: number): Promise<TestNatsCluster> {
  const routePorts = await Promise.all(Array.from({ length: size }, () => findFreePort()));
  const nodes = await Promise.all(
    routePorts.map((port, index) => startNats({ serverName: `node-${index + 1}`, cluster: { name: 'TEST', port, routePorts } })),
  );
  await waitFor('the election of a leader', CLUSTER_LIMIT_MS, async () => ((await Promise.all(nodes.map((node) => seesLeader(node, size)))).every(Boolean) ? true : undefined));
  return { nodes, urls: nodes.map((node) => node.url), stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))) };
}

async function seesLeader(node: TestNats, size: number): Promise<boolean> {
  const response = await fetch(`${node.monitorUrl}/jsz`);
  const body: unknown = await response.json();
  if (typeof body !== 'object' || body === null || !('meta_cluster' in body)) return false;
  const meta = body.meta_cluster;
  return typeof meta === 'object' && meta !== null && 'leader' in meta && meta.leader !== '' && 'cluster_size' in meta && meta.cluster_size === size;
}

/** A real Postgres of a test, with its own data folder. */
export async function startPostgres(): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'test-postgres-'));
  // As root, Postgres runs as another user, who must get to its data.
  await chmod(folder, 0o711);
  const options = { folder, port: 0, user: 'test', password: randomBytes(16).toString('hex'), database: 'test' };
  let server: PostgresServer = await startPostgresServer(options);
  return {
    url: server.url,
    kill: () => server.kill(),
    restart: async () => {
      await server.kill();
      server = await startPostgresServer({ ...options, port: server.port });
    },
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A database of its own inside the Postgres that all test files of this process share. */
export interface TestDatabase {
  readonly url: string;
  /** Removes the database, ending whoever is still connected. */
  drop(): Promise<void>;
}

interface SharedPostgres {
  readonly server: TestServer;
  readonly templates: Map<string, Promise<string>>;
}
let shared: Promise<SharedPostgres> | undefined;
let databases = 0;

// A hook of the root suite: the shared server ends with the last test, so that mocha can exit by itself.
if (typeof after === 'function') {
  after(async () => {
    const started = shared;
    shared = undefined;
    await (await started)?.server.stop();
  });
}

/**
 * A new, empty database within a fraction of a second. With `prepare` (migrations, usually) it is a copy of a template
 * that is prepared once under `prepare.name`.
 */
export async function freshDatabase(prepare?: { readonly name: string; readonly run: (url: string) => Promise<void> }): Promise<TestDatabase> {
  shared ??= startPostgres().then((server) => ({ server, templates: new Map<string, Promise<string>>() }));
  const postgres = await shared;
  const template = prepare === undefined ? 'template0' : await prepareTemplate(postgres, prepare);
  const name = await createDatabase(postgres.server, template);
  return { url: databaseUrl(postgres.server, name), drop: () => execute(postgres.server, `drop database ${name} with (force)`) };
}

async function prepareTemplate(postgres: SharedPostgres, prepare: { name: string; run: (url: string) => Promise<void> }): Promise<string> {
  const known = postgres.templates.get(prepare.name);
  if (known !== undefined) return known;
  const made = createDatabase(postgres.server, 'template0').then(async (name) => {
    await prepare.run(databaseUrl(postgres.server, name));
    return name;
  });
  postgres.templates.set(prepare.name, made);
  return made;
}

async function createDatabase(server: TestServer, template: string): Promise<string> {
  databases += 1;
  const name = `test_${databases}`;
  await execute(server, `create database ${name} template ${template}`);
  return name;
}

function databaseUrl(server: TestServer, name: string): string {
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function execute(server: TestServer, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(server, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
