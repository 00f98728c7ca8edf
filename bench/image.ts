import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { fixturePath } from '../test/support/fixtures.ts';
import { startService } from '../test/support/service.ts';
import { JobClient } from './job-client.ts';
import { print, seconds } from './table.ts';

/**
 * Photographs of 12 megapixels from JPEG to WebP: so many through the whole service, as clients see it, beside the same
 * work by sharp alone in this process with as many at once.
 */
const PICTURES = 24;
const AT_ONCE = availableParallelism();
const [WIDTH, HEIGHT] = [4000, 3000];

const service = await startService({ settings: { LOG_LEVEL: 'warn', CONVERTER_SLOTS: String(AT_ONCE) } });
try {
  const client = new JobClient(service);
  const photo = await sharp(await readFile(fixturePath('IMG_1054.JPG'))).resize(WIDTH, HEIGHT, { fit: 'fill' }).jpeg({ quality: 90 }).toBuffer();
  sharp.cache(false);
  sharp.concurrency(1);
  const bare = async (): Promise<void> => void (await sharp(photo).autoOrient().webp({ quality: 80 }).toBuffer());
  await Promise.all([bare(), client.convert(photo, 'jpg', 'webp')]);
  const alone = await seconds(() => inTurns(bare));
  const whole = await seconds(() => inTurns(() => client.convert(photo, 'jpg', 'webp')));
  print([
    ['12 MP jpg to webp', 'pictures a second', 'of bare sharp'],
    ['bare sharp', (PICTURES / alone).toFixed(2), '1.00'],
    ['whole service', (PICTURES / whole).toFixed(2), (alone / whole).toFixed(2)],
  ]);
} finally {
  await service.stop();
}

/** So many at once until all are done. One more than that is asked for of the service, so that none waits for its client. */
async function inTurns(work: () => Promise<unknown>): Promise<void> {
  let left = PICTURES;
  await Promise.all(
    Array.from({ length: AT_ONCE + 1 }, async () => {
      while (left > 0) {
        left -= 1;
        await work();
      }
    }),
  );
}
