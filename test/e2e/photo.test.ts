import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import type { JobView } from '../../shared/domain/job-view.ts';
import { Books, requireCleanAudit } from '../support/books.ts';
import { resultUrlOf, tasksOf } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { openOperator, type TestOperator } from '../support/organization.ts';
import { readPicture } from '../support/pictures.ts';
import { sharedService, type TestService } from '../support/service.ts';

const GRANTED = 20;
const CONTENT_TYPES = { webp: 'image/webp', png: 'image/png', avif: 'image/avif', jpg: 'image/jpeg' } as const;
/** Format names of the independent reader; avif is a kind of heif to it. */
const READER_NAMES: Readonly<Record<string, string>> = { heif: 'avif' };
/** Compressing twice moves a value of 0 to 255 by a few on average; another picture, or one turned, by dozens. */
const MEAN_DIFFERENCE_MAX = 6;

type Format = keyof typeof CONTENT_TYPES;

describe('A real photograph', function () {
  this.timeout(240_000);
  let service: TestService;
  let operator: TestOperator;
  let books: Books;
  let photo: Buffer;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    books = await Books.open(service, operator, GRANTED);
    photo = await readFile(fixturePath('IMG_1054.JPG'));
  });
  after(() => operator.stop());

  async function convert(file: Uint8Array, from: Format, to: Format): Promise<{ readonly job: JobView; readonly bytes: Buffer }> {
    const created = await books.create(tasksOf(from, to));
    expect(created.credits_estimated).to.equal(1);
    expect((await books.client.upload(created, file)).status).to.equal(200);
    const job = await books.client.waitForStatus(created.id, 'finished', 'error');
    expect(job, JSON.stringify(job.error)).to.include({ status: 'finished', credits_used: 1 });
    const download = await books.client.send('GET', resultUrlOf(job));
    expect(download.headers.get('content-type')).to.equal(CONTENT_TYPES[to]);
    expect(download.headers.get('content-length')).to.equal(String(download.bytes.length));
    return { job, bytes: download.bytes };
  }

  /** Seen upright, as every result is stored. */
  async function uprightSize(): Promise<{ readonly width: number; readonly height: number }> {
    const { width, height } = readPicture(photo);
    const turned = ((await sharp(photo).metadata()).orientation ?? 1) >= 5;
    return turned ? { width: height, height: width } : { width, height };
  }

  for (const format of ['webp', 'png', 'avif'] as const) {
    it(`becomes ${format} and jpg again, and is the same picture`, async () => {
      const size = await uprightSize();
      const there = await convert(photo, 'jpg', format);
      const read = readPicture(there.bytes);
      expect({ ...read, format: READER_NAMES[read.format ?? ''] ?? read.format }).to.deep.equal({ format, ...size });
      const back = await convert(there.bytes, format, 'jpg');
      expect(readPicture(back.bytes)).to.deep.equal({ format: 'jpg', ...size });
      expect(await meanDifference(photo, back.bytes)).to.be.lessThan(MEAN_DIFFERENCE_MAX);
    });
  }

  it('cost one credit each time, as the log proves', async () => {
    const jobs = await books.requireRight();
    expect(jobs).to.have.length(6);
    expect((await books.client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance).to.equal(GRANTED - 6);
    await requireCleanAudit(service);
  });
});

/** Mean difference of the channel values of two pictures seen upright. */
async function meanDifference(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((bytes) => sharp(bytes).autoOrient().resize(256, 256, { fit: 'fill' }).removeAlpha().raw().toBuffer()));
  const sum = a!.reduce((total, value, index) => total + Math.abs(value - (b![index] ?? 0)), 0);
  return sum / a!.length;
}
