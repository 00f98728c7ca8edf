import { expect } from 'chai';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TestClient } from '../support/client.ts';
import { sharedService, type TestService } from '../support/service.ts';

type DemoFile = { readonly base_url: string; readonly organization_id: string; readonly live_key: string; readonly test_key: string };

describe('The demo organization', function () {
  this.timeout(120_000);
  let service: TestService;
  let file: string;
  let demo: DemoFile;

  before(async () => {
    service = await sharedService();
    file = join(service.dataDir, 'demo.json');
    demo = JSON.parse(await readFile(file, 'utf8')) as DemoFile;
  });

  it('is told in a file that only its owner reads', async () => {
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(demo).to.have.all.keys('base_url', 'organization_id', 'live_key', 'test_key');
  });

  it('names the base address as the contract does, with the version in it (§9.1)', async () => {
    for (const [key, mode] of [[demo.live_key, 'live'], [demo.test_key, 'test']] as const) {
      const { status, body } = await new TestClient(demo.base_url, key).send<{ organization_id: string; mode: string; credits: object }>('GET', '/me');
      expect(status).to.equal(200);
      expect(body).to.include({ organization_id: demo.organization_id, mode });
    }
  });
});
