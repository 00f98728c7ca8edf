import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEgressBench, type EgressBench } from '../egress-bench.ts';
import { openOperator, type TestOperator } from '../organization.ts';
import { ORIGIN_ADDRESS } from '../origin.ts';
import { startService, type TestService } from '../service.ts';
import { makeBucket, type TestBucket } from './bucket.ts';
import { sharedCeph, type TestCeph } from './start-ceph.ts';

/** Stopping takes up to 20 s, a busy machine some more. */
const STOP_LIMIT_MS = 60_000;
/** Largest single upload: above every real file of these tests, small enough to be exceeded. */
export const SINGLE_UPLOAD_BYTES_MAX = 4 * 2 ** 20;

/** The whole service with its files in a bucket, a host that it may fetch from, and the folder with its authority. */
export type S3Service = { readonly ceph: TestCeph; readonly bucket: TestBucket; readonly service: TestService; readonly operator: TestOperator; readonly far: EgressBench; readonly folder: string };

let shared: Promise<S3Service> | undefined;

// A hook of the root suite: the service ends with the last test, so that mocha can exit by itself.
if (typeof after === 'function') {
  after(async function stopShared() {
    this.timeout(STOP_LIMIT_MS);
    const started = await shared?.catch(() => undefined);
    shared = undefined;
    await started?.operator.stop();
    await started?.service.stop();
    await started?.far.stop();
    started?.bucket.client.destroy();
    if (started) await rm(started.folder, { recursive: true, force: true });
  });
}

/** One for all test files of this process: each must leave it whole. */
export function s3Service(): Promise<S3Service> {
  shared ??= start();
  return shared;
}

async function start(): Promise<S3Service> {
  const [ceph, far, folder] = [await sharedCeph(), await startEgressBench(), await mkdtemp(join(tmpdir(), 'test-authority-'))];
  const bucket = await makeBucket(ceph);
  try {
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, far.authority.cert);
    const outbound = { OUTBOUND_ALLOWED_ADDRESSES: `${ORIGIN_ADDRESS}/32`, OUTBOUND_CA_FILE: authority, OUTBOUND_DNS_SERVERS: far.names.address };
    const service = await startService({ settings: { LOG_LEVEL: 'warn', SINGLE_UPLOAD_MAX_BYTES: String(SINGLE_UPLOAD_BYTES_MAX), ...outbound, ...bucket.settings } });
    return { ceph, bucket, service, operator: await openOperator(service), far, folder };
  } catch (error) {
    await far.stop();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
