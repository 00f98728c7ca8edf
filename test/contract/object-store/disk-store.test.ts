import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskStore } from '../../../shared/objects/disk/disk-store.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { describeObjectStore } from './object-store-contract.ts';

describeObjectStore('disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'disk-store-'));
  const masterKey = openMasterKey(randomBytes(32).toString('base64'));
  const store = await openDiskStore({ folder, publicUrl: 'http://127.0.0.1:8080', masterKey });
  return { store, stop: () => rm(folder, { recursive: true, force: true }) };
});
