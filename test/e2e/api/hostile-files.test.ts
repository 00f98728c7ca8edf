import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { contentTypes, makeCompound, makeZip, type MemberSpec } from '../../support/archives.ts';
import { resultUrlOf, tasksOf, TestClient } from '../../support/client.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { descendantsOf } from '../../support/process-tree.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const MIB = 1024 * 1024;
/** From the end of the upload to the error: two seconds and what a busy machine takes. */
const REFUSED_MS_MAX = 6_000;

const WORDS: MemberSpec = { name: 'word/document.xml', data: '<?xml version="1.0"?><w:document/>' };

/** A file, what it is given out for, and why the job fails. */
const FILES: readonly (readonly [what: string, file: () => Buffer | Promise<Buffer>, input: string, output: string, cause: string])[] = [
  ['a playlist as a film', () => Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'), 'mp4', 'mp3', 'not_what_it_claims'],
  ['a page as a photograph', () => Buffer.from('<html><img src="http://127.0.0.1/"></html>'), 'jpg', 'png', 'not_what_it_claims'],
  ['an archive of anything as a document', () => makeZip([{ name: 'a.txt', data: 'text' }]), 'docx', 'txt', 'not_what_it_claims'],
  ['a document that unpacks to a thousand times its size', () => makeZip([contentTypes('docx'), WORDS, { name: 'word/media/a.bmp', data: Buffer.alloc(100 * MIB) }]), 'docx', 'txt', 'unpacks_too_large'],
  ['a document with entities', () => makeZip([contentTypes('docx'), { name: 'word/document.xml', data: '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>' }]), 'docx', 'txt', 'unsupported_feature'],
  ['an encrypted document', () => makeCompound(['EncryptionInfo', 'EncryptedPackage']), 'docx', 'txt', 'password_required'],
  ['half of a document', async () => (await readFile(fixturePath('a-text.docx'))).subarray(0, 2_000), 'docx', 'txt', 'damaged'],
];

describe('Files that mean harm on their way through the API', function () {
  this.timeout(180_000);
  let service: TestService;
  let operator: TestOperator;
  let client: TestClient;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    const organization = await operator.newOrganization(20);
    client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret, await openApiCheck(service.baseUrl));
  });
  after(() => operator.stop());

  async function balance(): Promise<number> {
    return (await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;
  }

  for (const [what, file, input, output, cause] of FILES) {
    it(`${what} ends its job at once with the cause ${cause}, and costs nothing (§7, D38)`, async () => {
      const before = await balance();
      const created = await client.createJob(tasksOf(input, output));
      const bytes = await file();
      expect((await client.upload(created, bytes)).status).to.equal(200);
      const startMs = performance.now();
      const failed = await client.waitForStatus(created.id, 'error', 'finished');
      expect(performance.now() - startMs).to.be.lessThan(REFUSED_MS_MAX);
      expect(failed.error).to.nested.include({ code: 'internal', 'details.cause': cause });
      expect(failed.credits_used ?? 0).to.equal(0);
      expect(await balance()).to.equal(before);
    });
  }

  it('leaves no process and no folder, and an honest document still converts', async () => {
    const finished = await client.convert(await readFile(fixturePath('a-text.docx')), tasksOf('docx', 'txt'));
    expect((await client.send('GET', resultUrlOf(finished))).bytes.toString('utf8')).to.have.length.greaterThan(10);
    expect(descendantsOf(service.pid).filter(({ command }) => /ffmpeg|engines\/\w+\/child/.test(command))).to.deep.equal([]);
    const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('job-') && name.includes(`-${service.pidOf('converter')}-`));
    expect(folders.flatMap((folder) => readdirSync(`${tmpdir()}/${folder}`)).filter((name) => name === 'source')).to.deep.equal([]);
  });
});
