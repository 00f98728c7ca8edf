import { writeFile } from 'node:fs/promises';
import { commonImageOptions, type CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { drawPicture, guard } from './draw.ts';
import { encode } from './encode.ts';
import { writeIcon } from './icon-write.ts';
import { inspectSource, openPage, type Source } from './inspect.ts';
import type { ConvertJob } from './job.ts';
import type { DrawnOutput } from './outputs.ts';
import { readSource } from './source-bytes.ts';
import { writeTiffPages } from './tiff-pages.ts';

/**
 * Converts one image; the process it runs in is thrown away afterwards.
 * @throws EngineFailure when the source cannot be converted; anything else is a fault of this machine.
 */
export async function convertImage(job: ConvertJob): Promise<void> {
  const options = commonImageOptions.parse(job.options);
  const { bytes, format } = await readSource(job.source, job.input);
  const source = await inspectSource(bytes, { input: format, output: job.output, options });
  const { output } = job;
  if (output === 'pdf') {
    // Loaded where it is needed: it takes longer than to make a thumbnail.
    const { writePdf } = await import('./pdf.ts');
    return writePdf(job, source, options);
  }
  if (source.pages.length > 1) return writeTiffPages(job.result, renderPages(source, job, output, options));
  const result = await render(source, job, output, options);
  // Written by us and not by libvips, so that a full disk is not taken for a damaged file.
  await writeFile(job.result, output === 'ico' ? await writeIcon(result, job.options) : result);
}

async function* renderPages(source: Source, job: ConvertJob, output: DrawnOutput, options: CommonImageOptions): AsyncGenerator<Buffer> {
  for (const page of source.pages) yield await render(await openPage(source, page, options), job, output, options);
}

/** A picture in the format of the job; for what ffmpeg or we make the file of, in PNG. */
function render(source: Source, job: ConvertJob, output: DrawnOutput, options: CommonImageOptions): Promise<Buffer> {
  return guard(async () => {
    const { delay, loop } = source.animated ? source.metadata : {};
    const image = encode(await drawPicture(source, options), output, job.options, { delay, loop });
    return (options.keep_metadata === true ? image.keepMetadata() : image).toBuffer();
  });
}
