import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { openDiskStore } from '../../../shared/objects/disk/disk-store.ts';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';

/** Objects written side by side. */
const LANES = 4;
const CHUNKS = 8;

/** Writes objects into the folder of the first argument until it is killed; prints the key of each that was stored. */
const folder = process.argv[2] ?? '';
const masterKey = openMasterKey(Buffer.alloc(32).toString('base64'));
const store = await openDiskStore({ folder, publicUrl: 'http://127.0.0.1', masterKey });
await Promise.all(Array.from({ length: LANES }, writeForever));

async function writeForever(): Promise<never> {
  for (let count = 0; ; count += 1) {
    const key = count % 2 === 0 ? sourceKey(randomUUID()) : resultKey(randomUUID(), 1);
    const chunks = Array.from({ length: CHUNKS }, () => randomBytes(64 * 1024));
    await store.write(key, Readable.from(chunks), { maxBytes: 2 ** 20 });
    process.stdout.write(`${key}\n`);
  }
}
