import { open, readFile, rm } from 'node:fs/promises';
import type { PageRange } from '../../../../shared/domain/catalogue/options/page-ranges.ts';
import { EngineFailure } from '../failure.ts';
import { runToolWell } from './tool.ts';

/** Bytes of text that one range of pages may hold; the longest novel has five million. */
const TEXT_BYTES_MAX = 200 * 1024 * 1024;

/**
 * Takes the text out of pages, in the order in which people read it; a form feed ends each page.
 * @throws EngineFailure `no_text` where the pages hold only pictures, `result_too_large`.
 */
export async function convertText(path: string, ranges: readonly Required<PageRange>[], result: string, layout: boolean): Promise<void> {
  const part = 'part.txt';
  const file = await open(result, 'wx');
  let empty = true;
  let sizeBytes = 0;
  for (const { first, last } of ranges) {
    await runToolWell('pdftotext', ['-q', '-f', String(first), '-l', String(last), '-enc', 'UTF-8', ...(layout ? ['-layout'] : []), path, part]);
    const text = await readFile(part);
    sizeBytes += text.length;
    if (sizeBytes > TEXT_BYTES_MAX) throw new EngineFailure('result_too_large');
    empty &&= text.toString('utf8').trim() === '';
    await file.writeFile(text);
  }
  await file.close();
  await rm(part);
  if (empty) throw new EngineFailure('no_text');
}
