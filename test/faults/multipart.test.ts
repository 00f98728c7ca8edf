import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:net';
import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { tasksOf } from '../support/client.ts';
import { faultService, type FaultService } from '../support/fault-service.ts';
import { makeLargePhoto, MultipartUpload, type SentPart } from '../support/multipart.ts';
import { startSecondApi } from '../support/second-api.ts';

const PART_BYTES = 26_214_400;
/** Each moment is tried so often; a kill may come a little late. */
const ROUNDS = 2;
const REPEATS_MAX = 20;
const LIMIT_MS = 60_000;

describe('An upload in parts (§4.4)', function () {
  this.timeout(600_000);
  let world: FaultService;
  let books: Books;
  let photo: Buffer;

  before(async () => {
    world = await faultService();
    books = await Books.open(world.service, world.operator, 20);
    photo = await makeLargePhoto();
  });

  const create = (): Promise<JobView> => books.create(tasksOf('tiff', 'jpg', { width: 8 }));
  const folder = (...names: readonly string[]): Promise<readonly string[]> => readdir(join(world.service.dataDir, 'objects', ...names));

  /** Completes as a client does that repeats what got no answer. */
  async function completeAtLast(upload: MultipartUpload, parts: readonly SentPart[]): Promise<void> {
    for (let repeat = 0; repeat < REPEATS_MAX; repeat += 1) {
      const answer = await upload.complete(parts).catch(() => undefined);
      if (answer?.status === 200) {
        expect(answer.body).to.deep.equal({ size_bytes: photo.length });
        return;
      }
      if (answer) expect(answer.status, answer.bytes.toString()).to.equal(503);
      await world.service.untilReady();
    }
    throw new Error('the upload was not completed');
  }

  /** What a completion does one after the other; the api is killed when it was seen. */
  const moments = {
    'while the parts are copied': async () => (await folder('.tmp')).length > 0,
    'when the file was just published': async (job: JobView) => (await folder('source')).includes(job.id),
  };
  for (const [moment, isSeen] of Object.entries(moments)) {
    it(`is completed although the api is killed ${moment} (D45)`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) await killAt(isSeen);
      expect(await folder('multipart')).to.deep.equal([]);
    });
  }

  async function killAt(isSeen: (job: JobView) => Promise<boolean>): Promise<void> {
    const job = await create();
    const upload = new MultipartUpload(books.client, job);
    const parts = await upload.send(photo);
    const seen = new AbortController();
    const broken = upload.complete(parts).then(() => undefined, () => undefined).finally(() => seen.abort());
    // Looked for without a pause: it lasts for some milliseconds only.
    while (!seen.signal.aborted && !(await isSeen(job))) await new Promise(setImmediate);
    world.service.kill('api');
    await broken;
    await world.service.untilReady();
    await completeAtLast(upload, parts);
    expect((await books.client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
  }

  it('keeps the parts that were answered when the api is killed while another one comes in', async () => {
    const job = await create();
    const upload = new MultipartUpload(books.client, job);
    await upload.start(photo.length);
    const last = await upload.put(2, photo.subarray(PART_BYTES));
    const { hostname, port, pathname, search } = new URL(await upload.url(1));
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${PART_BYTES}\r\n\r\n`);
    socket.write(photo.subarray(0, 1_000_000));
    await waitFor('the part to come in', LIMIT_MS, async () => (await folder('.tmp')).length > 0 || undefined);
    world.service.kill('api');
    socket.destroy();
    await world.service.untilReady();
    const halfDone = await upload.complete([{ part_number: 1, etag: last.etag }, last]);
    expect(halfDone.status).to.equal(400);
    const first = await upload.put(1, photo.subarray(0, PART_BYTES));
    await completeAtLast(upload, [first, last]);
    expect((await books.client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
  });

  it('goes through two api processes as through one', async () => {
    const second = await startSecondApi(world.service);
    try {
      const other = books.clientAt(second.baseUrl);
      const job = await create();
      const here = new MultipartUpload(books.client, job);
      const there = new MultipartUpload(other, job);
      const starts = await Promise.all([here.start(photo.length), there.start(photo.length)]);
      expect(starts.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 201]);
      expect(starts[0].body).to.deep.equal(starts[1].body);
      const parts = [await here.put(1, photo.subarray(0, PART_BYTES)), await there.put(2, photo.subarray(PART_BYTES))];
      const answers = await Promise.all([here.complete(parts), there.complete(parts)]);
      for (const { status, body } of answers) expect([status, body]).to.deep.equal([200, { size_bytes: photo.length }]);
      expect((await books.client.waitForStatus(job.id, 'finished', 'error')).status).to.equal('finished');
    } finally {
      await second.stop();
    }
  });

  after(async () => {
    await books.requireRight();
    await requireCleanAudit(world.service);
  });
});
