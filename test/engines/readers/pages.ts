import { execFileSync } from 'node:child_process';

/** Dots per inch at which pages are looked at for whether anything is on them. */
const LOOK_DPI = 20;

/** What poppler says about a PDF. */
export interface Pages {
  readonly count: number;
  readonly width: number;
  readonly height: number;
  /** Fonts that are not in the file, so that another machine shows others. */
  readonly fontsMissing: readonly string[];
  /** Pages, from 1, on which nothing is. */
  readonly blank: readonly number[];
}

/** Reads a PDF; throws when it is none. Sizes are in points. */
export function pagesOf(path: string): Pages {
  const info = execFileSync('pdfinfo', [path], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const [, width = '0', height = '0'] = /^Page size:\s+([\d.]+) x ([\d.]+)/m.exec(info) ?? [];
  const fonts = execFileSync('pdffonts', [path], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().split('\n').slice(2);
  return {
    count: Number(/^Pages:\s+(\d+)$/m.exec(info)?.[1] ?? 0),
    width: Number(width),
    height: Number(height),
    fontsMissing: fonts.filter((line) => /\s(yes|no)\s+(yes|no)\s+(yes|no)\s/.test(line) && !/\s(yes)\s+(yes|no)\s+(yes|no)\s+\d+\s+\d+\s*$/.test(line)),
    blank: blankPages(path),
  };
}

function blankPages(path: string): number[] {
  const bytes = execFileSync('pdftoppm', ['-r', String(LOOK_DPI), '-gray', path], { maxBuffer: 512 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] });
  const blank: number[] = [];
  let page = 0;
  for (let at = 0; at < bytes.length; ) {
    page += 1;
    const [head = '', width = '0', height = '0'] = /^P5\s+(\d+)\s+(\d+)\s+\d+\s/.exec(bytes.toString('latin1', at, at + 64)) ?? [];
    const pixels = bytes.subarray(at + head.length, at + head.length + Number(width) * Number(height));
    if (head === '') break;
    if (pixels.every((value) => value === pixels[0])) blank.push(page);
    at += head.length + pixels.length;
  }
  return blank;
}
