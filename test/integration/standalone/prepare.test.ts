import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { prepare } from '../../../services/standalone/prepare.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { MANAGED_BY } from '../../../streams/definition.ts';
import { freshReadModels, silent } from '../../support/read-models.ts';
import { runCommand } from '../../support/run-program.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

describe('a start after one went back over a release that added a consumer', function () {
  this.timeout(120_000);
  let nats: TestNats;
  let database: Awaited<ReturnType<typeof freshReadModels>>;
  let dataFolder: string;
  let nc: NatsConnection;
  let said: string[];

  before(async () => {
    [nats, database, dataFolder] = await Promise.all([startNats(), freshReadModels(), mkdtemp(join(tmpdir(), 'test-prepare-'))]);
    nc = await connectNats({ url: nats.url, name: 'test', logger: silent });
    await start();
    const manager = await jetstreamManager(nc, { checkAPI: false });
    await manager.consumers.add('JOBS', { durable_name: 'mailer', ack_policy: 'explicit', metadata: { ...MANAGED_BY } });
  });
  after(async () => {
    await nc.close();
    await Promise.all([nats.stop(), database.drop(), rm(dataFolder, { recursive: true })]);
  });

  async function start(): Promise<void> {
    said = [];
    const servers = { natsUrl: nats.url, natsMonitorUrl: nats.monitorUrl, databaseUrl: database.url };
    const masterKey = Buffer.alloc(32, 1).toString('base64');
    await prepare({ dataFolder, publicUrl: 'http://127.0.0.1', masterKey, natsReplicas: 1, durabilityCheck: 'refuse', say: (line) => said.push(line), ...servers });
  }

  it('goes well, and says what was left and how to remove it', async () => {
    await start();
    expect(said).to.have.length(1);
    expect(said[0]).to.match(/^WARNING: streams: leave consumer JOBS\/mailer/).and.contain('npm run -s streams -- remove-consumer JOBS mailer');
  });

  it('says nothing any more once the command has removed it', async () => {
    const help = await runCommand('streams', ['remove-consumer', '--help'], {});
    expect(help.code).to.equal(0);
    expect(help.stdout).to.contain('remove-consumer STREAM NAME');
    const { code, stdout, stderr } = await runCommand('streams', ['remove-consumer', 'JOBS', 'mailer'], { NATS_URL: nats.url });
    expect([code, stdout, stderr]).to.deep.equal([0, '{"removed":"JOBS/mailer"}\n', '']);
    await start();
    expect(said).to.deep.equal([]);
  });
});
