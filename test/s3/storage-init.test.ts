import { expect } from 'chai';
import { DeleteBucketPolicyCommand, GetBucketCorsCommand, GetBucketLifecycleConfigurationCommand, GetBucketPolicyCommand, PutBucketLifecycleConfigurationCommand, PutBucketPolicyCommand } from '@aws-sdk/client-s3';
import { proveStore } from '../../shared/objects/s3/prove-store.ts';
import { nameBucket, type TestBucket } from '../support/ceph/bucket.ts';
import { sharedCeph } from '../support/ceph/start-ceph.ts';
import { runCommand, type Ended } from '../support/run-program.ts';

const BAD_CONFIGURATION = 78;

describe('admin storage init', function () {
  this.timeout(120_000);
  let bucket: TestBucket;

  before(async () => {
    bucket = nameBucket(await sharedCeph());
  });
  after(() => bucket.client.destroy());

  const init = (...args: readonly string[]): Promise<Ended> => runCommand('admin', ['storage', 'init', ...args], bucket.settings);
  const name = (): { Bucket: string } => ({ Bucket: bucket.options.bucket });

  it('creates the bucket, writes its rules, and says so', async () => {
    const { code, stdout, stderr } = await init();
    expect([code, stderr.replace(/\(node[^]*/, '')]).to.deep.equal([0, '']);
    expect(stdout).to.contain(`bucket ${bucket.options.bucket}: created\nlifecycle rules: written\nCORS rules: written\npolicy statements: written\n`);
    const { Rules = [] } = await bucket.client.send(new GetBucketLifecycleConfigurationCommand(name()));
    expect(Rules.map((rule) => [rule.Filter?.Prefix, rule.Expiration?.Days, rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation])).to.have.deep.members([['source/', 2, 1], ['result/', 2, undefined]]);
    const { CORSRules = [] } = await bucket.client.send(new GetBucketCorsCommand(name()));
    expect(CORSRules.map((rule) => [rule.AllowedOrigins, rule.AllowedMethods?.toSorted(), rule.ExposeHeaders])).to.deep.equal([[['*'], ['GET', 'PUT'], ['ETag']]]);
  });

  it('changes nothing the second time', async () => {
    const { code, stdout } = await init('--json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ bucket: bucket.options.bucket, created: false, lifecycle: 'unchanged', cors: 'unchanged', policy: 'unchanged', problems: [] });
  });

  it('keeps the rules that others wrote', async () => {
    const others = { ID: 'theirs', Status: 'Enabled', Filter: { Prefix: 'theirs/' }, Expiration: { Days: 30 } } as const;
    await bucket.client.send(new PutBucketLifecycleConfigurationCommand({ ...name(), LifecycleConfiguration: { Rules: [others] } }));
    const statement = { Sid: 'theirs', Effect: 'Deny', Principal: '*', Action: 's3:DeleteBucket', Resource: `arn:aws:s3:::${bucket.options.bucket}` };
    await bucket.client.send(new PutBucketPolicyCommand({ ...name(), Policy: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }) }));
    expect(JSON.parse((await init('--json')).stdout)).to.include({ lifecycle: 'written', cors: 'unchanged', policy: 'written' });
    const { Rules = [] } = await bucket.client.send(new GetBucketLifecycleConfigurationCommand(name()));
    expect(Rules.map(({ ID }) => ID)).to.include('theirs').and.have.length(3);
    const { Policy = '' } = await bucket.client.send(new GetBucketPolicyCommand(name()));
    expect(Policy).to.contain('"theirs"').and.contain('copysource');
  });

  it('finds out that a store obeys headers that were not signed', async () => {
    await bucket.client.send(new DeleteBucketPolicyCommand(name()));
    const problems = await proveStore({ client: bucket.client, name: bucket.options.bucket }, bucket.client);
    expect(problems.map((problem) => /x-amz-[\w-]+/.exec(problem)?.[0])).to.deep.equal(['x-amz-copy-source', 'x-amz-acl', 'x-amz-grant-read']);
  });

  it('refuses half a configuration and none by 78, and explains itself', async () => {
    const half = await runCommand('admin', ['storage', 'init'], { S3_BUCKET: 'files' });
    expect(half.code).to.equal(BAD_CONFIGURATION);
    for (const missing of ['S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']) expect(half.stderr).to.contain(`${missing}: must be set, because S3_BUCKET is`);
    const none = await runCommand('admin', ['storage', 'init'], {});
    expect([none.code, none.stderr]).to.deep.equal([BAD_CONFIGURATION, 'admin: S3_BUCKET: must be set. Without it files lie in DATA_DIR and there is no bucket to make ready.\n']);
    const help = await runCommand('admin', ['storage', 'init', '--help'], {});
    expect([help.code, help.stdout]).to.satisfy(([code, text]: [number, string]) => code === 0 && text.includes('storage init [--json]'));
    expect((await runCommand('admin', ['storage', 'init', 'now'], bucket.settings)).code).to.equal(2);
  });

  it('fails with a sentence and no address when the store is away', async () => {
    const away = await runCommand('admin', ['storage', 'init'], { ...bucket.settings, S3_ENDPOINT: 'http://127.0.0.1:9' });
    expect([away.code, away.stderr.replace(/\(node[^]*(?=admin:)/, '')]).to.deep.equal([1, 'admin: the object store did not answer (ECONNREFUSED)\n']);
  });
});
