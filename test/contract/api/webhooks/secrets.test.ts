import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { webhookKeyName } from '../../../../shared/privacy/data-keys.ts';
import { EMPTY_ADDRESS } from '../../../support/egress-bench.ts';
import { openOperator, type TestOperator } from '../../../support/organization.ts';
import { runCommand } from '../../../support/run-program.ts';
import { filesIn, findIn, keptBy } from '../../../support/sweep.ts';
import { WebhookClient, type CreatedWebhook } from '../../../support/webhook-client.ts';
import { startWebhookService, type WebhookService } from '../../../support/webhook-service.ts';

/** Found nowhere by chance. */
const URL_MARKER = 'zyxHOOKMARKERqlaWVU';
const TEXT_MARKER = 'zyxTEXTMARKERqlaWVU';

describe('What is secret about a webhook endpoint', function () {
  this.timeout(240_000);
  let started: WebhookService;
  let operator: TestOperator;
  let client: WebhookClient;
  let kept: CreatedWebhook;
  let deleted: CreatedWebhook;

  before(async () => {
    // A service of its own, because its stores are searched whole; it logs all that can be logged.
    started = await startWebhookService();
    const { service } = started;
    operator = await openOperator(service);
    client = new WebhookClient(service.baseUrl, (await (await operator.newOrganization()).newKey('live')).secret);
    // Nobody is there, so that every failure is logged as well.
    const url = `https://${EMPTY_ADDRESS}:8443/${URL_MARKER}?token=${URL_MARKER}`;
    [kept, deleted] = [await client.register(url, { description: TEXT_MARKER }), await client.register(url, { description: TEXT_MARKER })];
    // Requests that are refused are logged as well.
    await client.send('POST', '/v1/webhooks', { json: { url: `http://${URL_MARKER}.example.test/${URL_MARKER}`, description: TEXT_MARKER } });
    await client.send('POST', '/v1/webhooks', { json: { url: `https://nowhere.example.test/${URL_MARKER}`, description: TEXT_MARKER } });
    await client.send('GET', `/v1/webhooks/${URL_MARKER}/deliveries?since=${URL_MARKER}`);
    await client.test(kept.id);
    await client.history(kept.id);
  });
  after(async () => {
    await operator.stop();
    await started.stop();
  });

  it('lies in no store, table, file or log, in no spelling, and in no answer but that of the creation (§2.4, D57, D88)', async () => {
    const places = await keptBy(started.service, started.output());
    expect(findIn(places, [...secretsOf(kept.secret, deleted.secret), URL_MARKER, TEXT_MARKER])).to.deep.equal([]);
    expect(findIn(places, [kept.id]), 'the search works').to.include('output');
    for (const path of ['/v1/webhooks', `/v1/webhooks/${kept.id}/deliveries`]) {
      const { bytes } = await client.send('GET', path);
      expect(findIn(new Map([['answer', bytes]]), secretsOf(kept.secret))).to.deep.equal([]);
      expect(bytes.toString()).not.to.match(/secret|whsec_|v1\.[\w-]+\.[\w-]+/);
    }
  });

  it('is told by no list of an operator; a rotation tells the new one alone (D57)', async () => {
    const environment = { DATA_DIR: started.service.dataDir };
    const { organization_id } = JSON.parse(Buffer.from((await client.send('GET', '/v1/me')).bytes).toString()) as { organization_id: string };
    for (const more of [[], ['--json']]) {
      const { code, stdout } = await runCommand('admin', ['webhook', 'list', '--org', organization_id, ...more], environment);
      expect(code).to.equal(0);
      expect(stdout).to.include(kept.id).and.include(kept.url).and.not.include('whsec_');
    }
    const rotated = await runCommand('admin', ['webhook', 'rotate-secret', kept.id, '--json'], environment);
    expect(rotated.stdout).not.to.include(kept.secret);
    const { secret } = JSON.parse(rotated.stdout) as { secret: string };
    expect(findIn(await keptBy(started.service, started.output()), secretsOf(secret))).to.deep.equal([]);
  });

  it('can be read by nobody any more once the endpoint is deleted: its key is gone from the disk (§4.6 DELETE /webhooks/<webhook_id>, D57)', async () => {
    const wrapped = await storedKey(deleted.id);
    expect(await findBytes(wrapped)).not.to.deep.equal([]);
    expect((await client.remove(deleted.id)).status).to.equal(204);
    expect(await operator.accounts.dataKeys.get(webhookKeyName(deleted.id))).to.equal(undefined);
    expect(await findBytes(wrapped)).to.deep.equal([]);
    expect(await operator.accounts.dataKeys.get(webhookKeyName(kept.id))).not.to.equal(undefined);
  });

  async function storedKey(webhookId: string): Promise<Buffer> {
    const { data } = await operator.nc.request(`$JS.API.DIRECT.GET.KV_KEYS.$KV.KEYS.${webhookKeyName(webhookId)}`);
    return Buffer.from(data);
  }

  async function findBytes(wanted: Buffer): Promise<readonly string[]> {
    const files = await filesIn(join(started.service.dataDir, 'nats'));
    const found = await Promise.all(files.map(async (path) => (await readFile(path).catch(() => Buffer.alloc(0))).includes(wanted)));
    return files.filter((_path, index) => found[index]);
  }
});

/** A secret as it is written, without what all of them begin with, and the bytes that it encodes. */
function secretsOf(...secrets: readonly string[]): readonly (string | Buffer)[] {
  return secrets.flatMap((secret) => {
    const base64 = secret.slice('whsec_'.length);
    const bytes = Buffer.from(base64, 'base64');
    return [secret, base64, bytes, bytes.toString('hex')];
  });
}
