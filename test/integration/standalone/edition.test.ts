import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { isAlive, waitFor } from '../../../services/standalone/processes.ts';
import { readRunFile } from '../../../shared/config/run-file.ts';
import { makeStand, startEditionProcess, type EditionProcess, type Stand } from '../../support/edition-process.ts';

const NAMES = ['api', 'converter', 'ledger'];
const GONE_LIMIT_MS = 30_000;
/** Both servers starting at once on a slow machine, one of them recovering. */
const SERVERS_LIMIT_MS = 60_000;

async function untilRunning(edition: EditionProcess): Promise<void> {
  await edition.until(/Running at/);
}

function pidOf(edition: EditionProcess, service: string): number {
  return Number(new RegExp(`${service} runs as (\\d+)`).exec(edition.output())?.[1]);
}

describe('the standalone edition', function () {
  // Two starts, each as long as a line may take.
  this.timeout(240_000);
  let stand: Stand;
  let editions: EditionProcess[] = [];
  const start = (environment: Readonly<Record<string, string>> = {}): EditionProcess => {
    const edition = startEditionProcess(stand, environment);
    editions.push(edition);
    return edition;
  };
  beforeEach(async () => {
    stand = await makeStand(NAMES);
  });
  afterEach(async () => {
    for (const edition of editions) {
      if (edition.child.exitCode === null && edition.child.signalCode === null) edition.child.kill('SIGTERM');
      await edition.ended();
    }
    editions = [];
    await stand.remove();
  });

  it('starts everything, refuses a second start, and stops in order on SIGTERM', async () => {
    const first = start();
    await untilRunning(first);
    const data = join(stand.folder, 'data');
    expect(statSync(join(data, 'run.json')).mode & 0o777).to.equal(0o600);
    expect(statSync(join(data, 'master.key')).mode & 0o777).to.equal(0o600);
    expect(Buffer.from(readFileSync(join(data, 'master.key'), 'utf8'), 'base64')).to.have.length(32);
    expect(readRunFile(data)?.pid).to.equal(first.pid);

    const second = start();
    expect(await second.ended()).to.equal(1);
    expect(second.output()).to.contain(`in use by process ${first.pid}`);

    const from = performance.now();
    first.child.kill('SIGTERM');
    // npm and a terminal may both pass a signal on.
    first.child.kill('SIGINT');
    expect(await first.ended()).to.equal(0);
    expect(performance.now() - from).to.be.lessThan(20_000);
    const stops = [...first.output().matchAll(/(\w+) stops: SIGTERM/g)].map((match) => match[1]);
    expect(stops).to.deep.equal(NAMES);
    expect(existsSync(join(data, 'run.json'))).to.equal(false);
  });

  it('leaves nothing running when it is killed, and starts again on the same data', async () => {
    const first = start();
    await untilRunning(first);
    const run = readRunFile(join(stand.folder, 'data'));
    const client = new pg.Client({ connectionString: run?.database_url ?? '' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table thing as select 7 as n');
    const pids = [...NAMES.map((name) => pidOf(first, name)), Number(readFileSync(join(stand.folder, 'data/nats/nats-server.pid'), 'utf8'))];
    first.child.kill('SIGKILL');
    await waitFor('the end of the children', GONE_LIMIT_MS, () => (pids.some(isAlive) ? undefined : true));
    await client.end().catch(() => undefined);

    const second = start();
    await untilRunning(second);
    const again = new pg.Client({ connectionString: readRunFile(join(stand.folder, 'data'))?.database_url ?? '' });
    await again.connect();
    expect((await again.query('select n from thing')).rows).to.deep.equal([{ n: 7 }]);
    await again.end();
  });

  it('starts a service again that was killed', async () => {
    const edition = start();
    await untilRunning(edition);
    const before = edition.output().length;
    process.kill(pidOf(edition, 'converter'), 'SIGKILL');
    await edition.until(/converter ended \(signal SIGKILL\)/, before);
    await edition.until(/converter runs as \d+/, before);
  });

  it('starts a server again that was killed, at the same address', async () => {
    const edition = start();
    await untilRunning(edition);
    const run = readRunFile(join(stand.folder, 'data'));
    const before = edition.output().length;
    process.kill(Number.parseInt(readFileSync(join(stand.folder, 'data/postgres/data/postmaster.pid'), 'utf8'), 10), 'SIGKILL');
    process.kill(Number(readFileSync(join(stand.folder, 'data/nats/nats-server.pid'), 'utf8')), 'SIGKILL');
    await edition.until(/postgres ended/, before);
    await edition.until(/nats-server ended/, before);
    await waitFor('both servers', SERVERS_LIMIT_MS, async () => {
      const client = new pg.Client({ connectionString: run?.database_url ?? '' });
      client.on('error', () => undefined);
      const connected = await client.connect().then(() => true, () => false);
      await client.end().catch(() => undefined);
      const healthy = await fetch(`${run?.nats_monitor_url}/healthz`).then((response) => response.ok, () => false);
      return (connected && healthy) || undefined;
    });
  });

  it('kills a service that does not stop, and ends in time all the same', async () => {
    await stand.remove();
    stand = await makeStand(['api', 'deaf'], { deaf: `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.send({ type: 'ready' });` });
    const edition = start();
    await untilRunning(edition);
    edition.child.kill('SIGINT');
    expect(await edition.ended()).to.equal(0);
  });

  it('ends with 78 when a service refuses its configuration', async () => {
    await stand.remove();
    stand = await makeStand(['api', 'ledger'], { ledger: `process.stderr.write('PORT is wrong\\n'); process.exit(78);` });
    const edition = start();
    expect(await edition.ended()).to.equal(78);
    expect(edition.output()).to.contain('PORT is wrong');
  });

  it('tells every mistake of the configuration at once and ends with 78, before it starts anything', async () => {
    const edition = start({ CONVERTER_SLOTS: 'many', RESULT_TTL_SECONDS: '-1' });
    expect(await edition.ended()).to.equal(78);
    expect(edition.output()).to.contain('CONVERTER_SLOTS').and.to.contain('RESULT_TTL_SECONDS');
    expect(existsSync(join(stand.folder, 'data'))).to.equal(false);
  });

  it('starts without read models that follow the log, so that commands can mend them', async () => {
    await stand.remove();
    const answer = JSON.stringify({ status: 'not_ready', dependencies: { nats: 'ok', read_model: 'away' } });
    const api = `
      import { createServer } from 'node:http';
      process.once('SIGTERM', () => process.exit(0));
      createServer((request, response) => { response.statusCode = 503; response.end('${answer}'); }).listen(Number(process.env.PORT), '127.0.0.1');
      process.send({ type: 'ready' });
    `;
    stand = await makeStand(['api'], { api });
    const edition = start();
    await untilRunning(edition);
    expect(edition.output()).to.contain('WARNING: the read models do not follow');
    expect(readRunFile(join(stand.folder, 'data'))?.pid).to.equal(edition.pid);
  });

  it('stops cleanly when it is told so while it is still starting', async () => {
    const edition = start();
    await edition.until(/Starting nats-server/);
    edition.child.kill('SIGTERM');
    expect(await edition.ended()).to.equal(0);
    expect(edition.output()).to.contain('Stopped');
  });
});
