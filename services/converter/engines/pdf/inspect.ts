import { open } from 'node:fs/promises';
import { PAGES_MAX } from '../../../../shared/domain/catalogue/options/page-ranges.ts';
import { EngineFailure } from '../failure.ts';
import { runTool, runToolWell } from './tool.ts';

/** Bytes at the end of a file in which its last cross-reference must be named; some programs write a little behind it. */
const TAIL_BYTES = 16_384;

/** What is known of a document before anything of it is drawn. */
export interface PdfInfo {
  readonly pages: number;
  /** True where its author forbids to copy its text. */
  readonly copyForbidden: boolean;
}

/** Width and height of a page as it is shown, in points. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads what a document says about itself.
 * @throws EngineFailure `damaged` or `too_many_pages`.
 */
export async function inspectPdf(path: string): Promise<PdfInfo> {
  const { code, output } = await runTool('pdfinfo', [path]);
  const pages = lastNumber(output, /^Pages:\s+(\d+)$/gm);
  if (code !== 0 || pages === undefined || pages < 1) throw new EngineFailure('damaged');
  if (pages > PAGES_MAX) throw new EngineFailure('too_many_pages');
  return { pages, copyForbidden: /^Encrypted:\s+yes \(.*copy:no/m.test(output) };
}

/**
 * A file that was cut off in a transfer: poppler would show what is left of it as if it were all.
 * @throws EngineFailure `damaged`.
 */
export async function checkWhole(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
    if (!buffer.subarray(0, bytesRead).includes('startxref')) throw new EngineFailure('damaged');
  } finally {
    await file.close();
  }
}

/**
 * The size of one page, turned as it is shown.
 * @throws EngineFailure `damaged` when it has none.
 */
export async function sizeOfPage(path: string, page: number): Promise<PageSize> {
  const output = await runToolWell('pdfinfo', ['-f', String(page), '-l', String(page), path]);
  const [, width, height] = [...output.matchAll(/^Page\s+\d+ size:\s+([\d.e+]+) x ([\d.e+]+) pts/gm)].at(-1) ?? [];
  if (!(Number(width) > 0 && Number(height) > 0)) throw new EngineFailure('damaged');
  const turned = (lastNumber(output, /^Page\s+\d+ rot:\s+(\d+)$/gm) ?? 0) % 180 !== 0;
  return turned ? { width: Number(height), height: Number(width) } : { width: Number(width), height: Number(height) };
}

/** The last match counts: a title may hold lines that look like those of the program. */
function lastNumber(text: string, pattern: RegExp): number | undefined {
  const found = [...text.matchAll(pattern)].at(-1)?.[1];
  return found === undefined ? undefined : Number(found);
}
