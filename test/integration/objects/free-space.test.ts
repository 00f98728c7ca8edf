import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { StorageWatch } from '../../../services/api/health/storage-watch.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { openDiskStore } from '../../../shared/objects/disk/disk-store.ts';
import { roomAt, type DiskRoom } from '../../../shared/objects/disk/free-space.ts';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { expectFailure } from '../../support/expect-failure.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** How many MiB are sent that never end by themselves. */
const ENDLESS_MIB = 64;

describe('a disk of stored files that fills up', () => {
  let folder: string;
  let room: DiskRoom;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'free-space-'));
    room = { free_bytes: 100 * GIB, total_bytes: 200 * GIB };
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  const open = (freeBytesMin?: number): Promise<ObjectStore> =>
    openDiskStore({ folder, publicUrl: 'http://127.0.0.1', masterKey: openMasterKey(Buffer.alloc(32).toString('base64')), freeBytesMin, lookAtRoom: () => Promise.resolve(room) });
  const staged = (): Promise<string[]> => readdir(join(folder, '.tmp'));

  it('takes nothing more once what must stay free is reached, and says so before a job is created (§7 internal 503)', async () => {
    room = { free_bytes: 2 * GIB - 1, total_bytes: 200 * GIB };
    const store = await open();
    const key = sourceKey(randomUUID());
    const uploadId = await store.openMultipart(key);
    const failures = [
      await expectFailure(store.write(sourceKey(randomUUID()), body(1), { maxBytes: 10 }), TransientError),
      await expectFailure(store.write(resultKey(randomUUID(), 1), body(1), { maxBytes: 10 }), TransientError),
      await expectFailure(store.writePart(key, uploadId, { partNumber: 1, sizeBytes: 1 }, body(1)), TransientError),
      await expectFailure(new StorageWatch(store).requireWritable(), TransientError),
    ];
    expect(failures.map(({ dependency }) => dependency)).to.deep.equal(['storage', 'storage', 'storage', 'storage']);
    expect(await staged()).to.deep.equal([]);
  });

  it('reads nothing of a body that would not fit', async () => {
    room = { free_bytes: 2 * GIB + 9, total_bytes: 200 * GIB };
    const store = await open();
    const unread = body(10);
    await expectFailure(store.write(sourceKey(randomUUID()), unread, { maxBytes: 10, expectedBytes: 10 }), TransientError);
    expect(unread.readableDidRead).to.equal(false);
    await store.write(sourceKey(randomUUID()), body(9), { maxBytes: 10, expectedBytes: 9 });
  });

  it('breaks off a body that is on its way, and leaves nothing of it', async () => {
    const store = await open(GIB);
    let sent = 0;
    const endless = Readable.from(
      (async function* () {
        for (; sent < ENDLESS_MIB; sent += 1) {
          if (sent === 4) room = { free_bytes: GIB, total_bytes: 200 * GIB };
          yield await Promise.resolve(Buffer.alloc(MIB));
        }
      })(),
    );
    await expectFailure(store.write(sourceKey(randomUUID()), endless, { maxBytes: GIB }), TransientError);
    expect(sent).to.be.lessThan(ENDLESS_MIB / 2);
    expect(await staged()).to.deep.equal([]);
  });

  it('lets many that write at once pass the floor by nothing', async () => {
    room = { free_bytes: GIB + 4 * MIB, total_bytes: 200 * GIB };
    const store = await open(GIB);
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => store.write(sourceKey(randomUUID()), body(MIB), { maxBytes: MIB })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(1, 4);
  });

  it('does not complete an upload in parts that would not fit, and keeps its parts for later', async () => {
    const store = await open(GIB);
    const key = sourceKey(randomUUID());
    const part = await store.writePart(key, await store.openMultipart(key), { partNumber: 1, sizeBytes: MIB }, body(MIB));
    room = { free_bytes: GIB + 1000, total_bytes: 200 * GIB };
    const later = await open(GIB);
    await expectFailure(later.completeMultipart(key, [part]), TransientError);
    expect(await staged()).to.deep.equal([]);
    room = { free_bytes: 2 * GIB, total_bytes: 200 * GIB };
    expect((await (await open(GIB)).completeMultipart(key, [part])).size_bytes).to.equal(MIB);
  });

  it('goes on by itself when there is room again', async () => {
    room = { free_bytes: 0, total_bytes: 200 * GIB };
    const store = await open();
    await expectFailure(store.probe(), TransientError);
    room = { free_bytes: 100 * GIB, total_bytes: 200 * GIB };
    const untilMs = Date.now() + 5_000;
    let isBack = false;
    while (!isBack && Date.now() < untilMs) isBack = await store.probe().then(() => true, () => false);
    expect(isBack).to.equal(true);
  });

  it('may be a small one: a tenth of it stays free', async () => {
    room = { free_bytes: 11 * MIB, total_bytes: 100 * MIB };
    const store = await open();
    await store.write(sourceKey(randomUUID()), body(1000), { maxBytes: MIB });
    await expectFailure(store.write(sourceKey(randomUUID()), body(2 * MIB), { maxBytes: 2 * MIB, expectedBytes: 2 * MIB }), TransientError);
  });

  it('is asked for its own room when nobody says how much it is', async () => {
    const { free_bytes, total_bytes } = await roomAt(folder);
    expect(total_bytes).to.be.greaterThan(0);
    expect(free_bytes).to.be.within(0, total_bytes);
  });
});

function body(bytes: number): Readable {
  return Readable.from([Buffer.alloc(bytes)]);
}
