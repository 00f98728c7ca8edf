import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import Pdf from 'pdfkit';
import { z } from 'zod';
import type { CommonImageOptions } from '../../../../shared/domain/catalogue/options/image.ts';
import { imagePdfOptions } from '../../../../shared/domain/catalogue/options/image-pdf.ts';
import { officeToPdf } from '../../../../shared/domain/catalogue/options/office.ts';
import { openPage, type Source } from './inspect.ts';
import type { ConvertJob } from './job.ts';
import { layOut } from './pdf-layout.ts';
import { addPicture, type PdfPicture } from './pdf-picture.ts';
import { drawForPdf, takeJpeg } from './pdf-source.ts';
import { splitFrames } from './turn.ts';

const { paper_size, orientation } = officeToPdf;

const pdfOptions = z.object({ ...imagePdfOptions, paper_size, orientation });

/** Options of a pdf that is made of pictures. */
export type PdfOptions = z.infer<typeof pdfOptions>;

/**
 * Puts each page of a picture on a page of a PDF.
 * @throws EngineFailure when a page cannot be drawn.
 */
export async function writePdf(job: ConvertJob, source: Source, common: CommonImageOptions): Promise<void> {
  const options = pdfOptions.parse(job.options);
  // No font: the pages have no text. Pictures are compressed by us.
  const document = new Pdf({ autoFirstPage: false, font: '', compress: false });
  const written = finished(document.pipe(createWriteStream(job.result, { flags: 'wx' })));
  // A failure to write is met when the end is waited for; before that nobody looks.
  written.catch(() => undefined);
  for await (const picture of pictures(job, source, common, options)) {
    const { page, place, clip } = layOut(picture, options);
    document.addPage({ size: [page.width, page.height], margin: 0 });
    addPicture(document, picture, place, clip);
  }
  document.end();
  await written;
}

async function* pictures(job: ConvertJob, source: Source, common: CommonImageOptions, options: PdfOptions): AsyncGenerator<PdfPicture> {
  const untouched = job.input === 'jpg' ? await takeJpeg(source, options) : undefined;
  if (untouched !== undefined) {
    yield untouched;
  } else if (source.framed) {
    for await (const frame of splitFrames(source.bytes, { ...source.open, pages: -1 })) {
      const bytes = await frame.png({ compressionLevel: 0 }).toBuffer();
      yield await drawForPdf({ ...source, bytes, open: {} }, job.input, common, options);
    }
  } else {
    for (const page of source.pages) yield await drawForPdf(await openPage(source, page, common), job.input, common, options);
  }
}
