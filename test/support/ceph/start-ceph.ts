import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../services/standalone/free-port.ts';
import { spawnTied, waitFor } from '../../../services/standalone/processes.ts';
import { runOf, type ServerRun } from '../../../services/standalone/server-run.ts';
import { runCommand } from '../../../services/standalone/setup/run-command.ts';
import { keepTail } from '../../../services/standalone/text-tail.ts';
import { monitorAddress, renderCephConfiguration, type CephPlace } from './configuration.ts';
import { findCeph, type CephProgram } from './programs.ts';

/** A command answers within seconds once the daemons are up; the first user is made together with all pools. */
const COMMAND_LIMIT_MS = 60_000;
/** A daemon that starts on an empty folder. */
const DAEMON_LIMIT_MS = 60_000;
/** How long a daemon may take to stop in order; the data are in memory. */
const STOP_GRACE_MS = 5_000;

/** A real Ceph RADOS gateway with an empty store and one user. */
export interface TestCeph {
  /** Settings of the service for it, all but the bucket. */
  readonly settings: Readonly<Record<'S3_ENDPOINT' | 'S3_REGION' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY' | 'S3_FORCE_PATH_STYLE', string>>;
  /** kill -9 of the gateway; the objects stay. */
  killGateway(): Promise<void>;
  /** Stops the gateway where it stands: it takes connections and answers nothing. The call resumes it. */
  freezeGateway(): () => void;
  /** Starts the gateway again on the same port. */
  startGateway(): Promise<void>;
  /** Ends everything in order and removes its folder. */
  stop(): Promise<void>;
}

let shared: Promise<TestCeph> | undefined;

// A hook of the root suite: the shared Ceph ends with the last test, so that mocha can exit by itself.
if (typeof after === 'function') {
  after(async function stopShared() {
    this.timeout(4 * STOP_GRACE_MS);
    const started = shared;
    shared = undefined;
    await (await started?.catch(() => undefined))?.stop();
  });
}

/** One Ceph for all test files of this process; each takes a bucket of its own. */
export function sharedCeph(): Promise<TestCeph> {
  shared ??= startCeph();
  return shared;
}

/** Starts one on ports that nobody uses. It takes about 15 s. */
export async function startCeph(): Promise<TestCeph> {
  const found = findCeph();
  if ('missing' in found) throw new Error(`no ${found.missing.join(', ')}; run npm run setup:ceph`);
  const folder = await mkdtemp(join(tmpdir(), 'test-ceph-'));
  const place: CephPlace = { folder, fsid: randomUUID(), monitorPorts: [await findFreePort(), await findFreePort()], gatewayPort: await findFreePort() };
  const ceph = new Ceph(place, found.paths);
  try {
    await ceph.start();
    return ceph;
  } catch (error) {
    await ceph.stop();
    throw error;
  }
}

class Ceph implements TestCeph {
  readonly #place: CephPlace;
  readonly #paths: Readonly<Record<CephProgram, string>>;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #accessKey = randomBytes(10).toString('hex').toUpperCase();
  readonly #secretKey = randomBytes(20).toString('hex');
  /** In the order of starting. */
  readonly #daemons: ServerRun[] = [];
  #gateway: ServerRun | undefined;

  constructor(place: CephPlace, paths: Readonly<Record<CephProgram, string>>) {
    this.#place = place;
    this.#paths = paths;
    this.#environment = { PATH: process.env['PATH'], CEPH_CONF: join(place.folder, 'ceph.conf') };
  }

  get settings(): TestCeph['settings'] {
    return {
      S3_ENDPOINT: `http://127.0.0.1:${this.#place.gatewayPort}`,
      S3_REGION: 'us-east-1',
      S3_ACCESS_KEY_ID: this.#accessKey,
      S3_SECRET_ACCESS_KEY: this.#secretKey,
      S3_FORCE_PATH_STYLE: 'true',
    };
  }

  async start(): Promise<void> {
    const { folder, fsid, monitorPorts } = this.#place;
    const [monitor, osd, osdId] = [join(folder, 'mon'), join(folder, 'osd'), randomUUID()];
    for (const path of [monitor, osd]) await mkdir(path);
    await writeFile(join(folder, 'ceph.conf'), renderCephConfiguration(this.#place));
    await this.#run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', monitorAddress(monitorPorts), join(folder, 'monmap'));
    await this.#run('ceph-mon', '--mkfs', '-i', 'a', '--mon-data', monitor, '--monmap', join(folder, 'monmap'));
    this.#daemons.push(this.#spawn('ceph-mon', '-i', 'a', '--mon-data', monitor, '-f'));
    // The command waits for the monitor by itself.
    await this.#run('ceph', 'osd', 'new', osdId);
    await this.#run('ceph-osd', '-i', '0', '--osd-data', osd, '--mkfs', '--osd-uuid', osdId);
    await this.#run('ceph', 'osd', 'crush', 'add', 'osd.0', '1.0', 'root=default', 'host=localhost');
    this.#daemons.push(this.#spawn('ceph-osd', '-i', '0', '--osd-data', osd, '-f'));
    await this.#run('radosgw-admin', 'user', 'create', '--uid=app', '--display-name=app', `--access-key=${this.#accessKey}`, `--secret-key=${this.#secretKey}`);
    await this.startGateway();
  }

  async startGateway(): Promise<void> {
    const gateway = this.#spawn('radosgw', '-n', 'client.rgw.a', '-f');
    this.#gateway = gateway;
    let ended: string | undefined;
    void gateway.exited.then((end) => (ended = end.description));
    await waitFor('the start of the S3 gateway', DAEMON_LIMIT_MS, async () => {
      if (ended !== undefined) throw new Error(`the S3 gateway ended while starting (${ended}): ${gateway.lastWords()}`);
      const response = await fetch(this.settings.S3_ENDPOINT).catch(() => undefined);
      await response?.arrayBuffer();
      return response === undefined ? undefined : true;
    });
  }

  async killGateway(): Promise<void> {
    await this.#gateway?.kill();
    this.#gateway = undefined;
  }

  freezeGateway(): () => void {
    const pid = this.#gateway?.pid;
    if (pid === undefined) throw new Error('the S3 gateway is not running');
    process.kill(pid, 'SIGSTOP');
    return () => process.kill(pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    // The gateway first: it cannot end once its OSD is gone.
    await this.#gateway?.stop();
    for (const daemon of this.#daemons.toReversed()) await daemon.stop();
    await rm(this.#place.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #run(program: CephProgram, ...args: readonly string[]): Promise<void> {
    await runCommand(this.#paths[program], args, { limitMs: COMMAND_LIMIT_MS, environment: this.#environment });
  }

  #spawn(program: CephProgram, ...args: readonly string[]): ServerRun & { readonly lastWords: () => string } {
    const child = spawnTied(this.#paths[program], args, { onParentDeath: 'SIGKILL' }, { env: this.#environment, stdio: ['ignore', 'ignore', 'pipe'] });
    const lastWords = keepTail(child.stderr);
    return { ...runOf(child, 'SIGTERM', STOP_GRACE_MS), lastWords };
  }
}
