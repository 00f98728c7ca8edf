import { randomUUID } from 'node:crypto';
import { loadSettings } from '../../../shared/config/load.ts';
import { S3_SETTINGS, s3OptionsOf } from '../../../shared/objects/open-store.ts';
import { openClient, type S3Options } from '../../../shared/objects/s3/client.ts';
import { initBucket } from '../../../shared/objects/s3/init-bucket.ts';
import type { S3Client } from '@aws-sdk/client-s3';
import type { TestCeph } from './start-ceph.ts';

/** Contract times: two hours for uploads, a day for results. */
export const KEEP = { uploadWindowSeconds: 7_200, resultSeconds: 86_400 } as const;

/** A bucket of a test. */
export type TestBucket = {
  readonly options: S3Options;
  /** Settings of the service for it. */
  readonly settings: Readonly<Record<string, string>>;
  /** For looking into it, past the service. */
  readonly client: S3Client;
};

/** Settings and client for a bucket that does not exist yet. */
export function nameBucket(ceph: TestCeph): TestBucket {
  const settings = { ...ceph.settings, S3_BUCKET: `test-${randomUUID()}` };
  const options = s3OptionsOf(loadSettings(settings, S3_SETTINGS));
  if (!options) throw new Error('the settings of the bucket are not complete');
  return { options, settings, client: openClient(options) };
}

/** A bucket that is ready for the service. */
export async function makeBucket(ceph: TestCeph): Promise<TestBucket> {
  const bucket = nameBucket(ceph);
  const { problems } = await initBucket(bucket.options, KEEP);
  if (problems.length > 0) throw new Error(problems.join(' '));
  return bucket;
}
