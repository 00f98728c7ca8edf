import type { Category } from './formats.ts';

/** What one typical file of a kind took, inside the engine; the median of some runs, in ms. */
export interface Measurement {
  readonly from: Category;
  readonly to: Category;
  readonly pair: string;
  readonly file: string;
  readonly median_ms: number;
}

/** Written by `npm run bench:estimates` on 2026-11-21, on 2 processors. */
export const MEASUREMENTS: readonly Measurement[] = [
  { from: 'image', to: 'image', pair: 'gif to webp', file: 'animation of 20 pictures', median_ms: 128 },
  { from: 'image', to: 'pdf', pair: 'gif to pdf', file: 'animation of 20 pictures', median_ms: 627 },
  { from: 'pdf', to: 'image', pair: 'pdf to webp', file: 'manual of 36 pages', median_ms: 444 },
  { from: 'pdf', to: 'archive', pair: 'pdf to zip', file: 'manual of 36 pages', median_ms: 7362 },
  { from: 'pdf', to: 'document', pair: 'pdf to docx', file: 'manual of 36 pages', median_ms: 2055 },
  { from: 'pdf', to: 'pdf', pair: 'pdf to pdf', file: 'manual of 36 pages', median_ms: 167 },
  { from: 'pdf', to: 'presentation', pair: 'pdf to pptx', file: 'manual of 36 pages', median_ms: 2460 },
  { from: 'pdf', to: 'spreadsheet', pair: 'pdf to xlsx', file: 'manual of 36 pages', median_ms: 2077 },
  { from: 'document', to: 'document', pair: 'docx to html', file: 'text of 4 pages', median_ms: 419 },
  { from: 'document', to: 'pdf', pair: 'docx to pdf', file: 'text of 4 pages', median_ms: 350 },
  { from: 'spreadsheet', to: 'spreadsheet', pair: 'xlsx to ods', file: 'workbook of 29 printed pages', median_ms: 796 },
  { from: 'spreadsheet', to: 'pdf', pair: 'xlsx to pdf', file: 'workbook of 29 printed pages', median_ms: 488 },
  { from: 'presentation', to: 'presentation', pair: 'ppt to pptx', file: '28 slides', median_ms: 1082 },
  { from: 'presentation', to: 'pdf', pair: 'ppt to pdf', file: '28 slides', median_ms: 305 },
  { from: 'document', to: 'image', pair: 'docx to webp', file: 'text of 4 pages', median_ms: 808 },
  { from: 'document', to: 'archive', pair: 'docx to zip', file: 'text of 4 pages', median_ms: 1337 },
  { from: 'spreadsheet', to: 'image', pair: 'xlsx to webp', file: 'workbook of 29 printed pages', median_ms: 913 },
  { from: 'spreadsheet', to: 'archive', pair: 'xlsx to zip', file: 'workbook of 29 printed pages', median_ms: 3402 },
  { from: 'presentation', to: 'image', pair: 'ppt to webp', file: '28 slides', median_ms: 492 },
  { from: 'presentation', to: 'archive', pair: 'ppt to zip', file: '28 slides', median_ms: 4314 },
  { from: 'iwork', to: 'document', pair: 'pages to docx', file: 'text of a page', median_ms: 114 },
  { from: 'iwork', to: 'pdf', pair: 'pages to pdf', file: 'text of a page', median_ms: 103 },
  { from: 'iwork', to: 'spreadsheet', pair: 'numbers to xlsx', file: 'sheet of a page', median_ms: 111 },
  { from: 'iwork', to: 'presentation', pair: 'key to pptx', file: 'a few slides', median_ms: 181 },
  { from: 'iwork', to: 'image', pair: 'pages to webp', file: 'text of a page', median_ms: 557 },
  { from: 'iwork', to: 'archive', pair: 'pages to zip', file: 'text of a page', median_ms: 381 },
  { from: 'spreadsheet', to: 'document', pair: 'xlsx to html', file: 'workbook of 29 printed pages', median_ms: 563 },
  { from: 'audio', to: 'audio', pair: 'wav to mp3', file: 'recording of ten minutes', median_ms: 3025 },
  { from: 'video', to: 'audio', pair: 'mp4 to mp3', file: 'film of ten minutes, 1280 × 720', median_ms: 6799 },
  { from: 'video', to: 'video', pair: 'mp4 to webm', file: 'film of one minute, 1280 × 720', median_ms: 10983 },
  { from: 'video', to: 'image', pair: 'mp4 to webp', file: 'film of one minute, 1280 × 720', median_ms: 501 },
  { from: 'image', to: 'video', pair: 'gif to webm', file: 'animation of 20 pictures', median_ms: 253 },
];
