import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '../../shared/config/load.ts';
import { OBJECT_SETTINGS } from '../../shared/objects/open-store.ts';
import { openS3Store } from '../../shared/objects/s3/s3-store.ts';
import { describeObjectStore } from '../contract/object-store/object-store-contract.ts';
import { makeBucket } from '../support/ceph/bucket.ts';
import { sharedCeph } from '../support/ceph/start-ceph.ts';

describeObjectStore('S3, a real Ceph RADOS gateway', async () => {
  const bucket = await makeBucket(await sharedCeph());
  const spoolFolder = await mkdtemp(join(tmpdir(), 's3-store-'));
  const store = openS3Store({ ...bucket.options, spoolFolder, lifetimes: loadSettings({}, OBJECT_SETTINGS) });
  return {
    store,
    async stop() {
      bucket.client.destroy();
      await rm(spoolFolder, { recursive: true, force: true });
    },
  };
});
