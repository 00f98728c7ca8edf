import { expect } from 'chai';
import { fileTypeFromBuffer } from 'file-type';
import { FORMATS, mimeOf, type Category, type FormatName } from '../../../shared/domain/catalogue/formats.ts';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { decodedSeconds, probe } from '../readers/media.ts';
import { members, recall, wordsOf } from '../readers/words.ts';
import { pagesOf } from '../readers/pages.ts';
import { pictureOf } from '../readers/pictures.ts';

/** A file on the disk, and what is in it. */
export interface Judged {
  readonly path: string;
  readonly bytes: Buffer;
  readonly format: FormatName;
}

/** What was measured about a result, by the name of the measure; all of it is shown in `docs/formats.md`. */
export type Quality = Readonly<Record<string, number>>;

/** Least part of the words of a source that its result must hold. */
const RECALL_MIN = { documents: 0.95, sheetsAndSlides: 0.8 } as const;
/** How far the length of a recording may be off, seconds. */
const DURATION_OFF_MAX = 0.1;
/** Points in an inch, and the dots per inch at which pages are drawn unless asked otherwise. */
const [POINTS_PER_INCH, PAGE_DPI] = [72, 150];

const LOOSE: ReadonlySet<Category> = new Set(['spreadsheet', 'presentation', 'iwork']);
/** Formats that are text, or for which the independent reader has no name. */
const UNSNIFFED: ReadonlySet<FormatName> = new Set(['csv', 'html', 'md', 'pcx', 'ppm', 'svg', 'tga', 'txt', 'xpm', 'qoi', 'doc', 'xls', 'ppt', 'key', 'numbers', 'pages']);
/** What the independent reader calls some formats. */
const SNIFFED_AS: Partial<Readonly<Record<FormatName, readonly string[]>>> = { ogg: ['ogg', 'oga', 'ogv'], tiff: ['tif'], wma: ['asf'], wmv: ['asf'], m4a: ['m4a', 'mp4'], mp4: ['mp4', 'm4v'], mkv: ['mkv'], mpg: ['mpg'], aiff: ['aif'], jxl: ['jxl'], aac: ['aac'] };

/** Judges a result by independent means against its source. Throws what chai throws when it is not good enough. */
export async function judge(source: Judged, result: Judged, pair: Pair): Promise<Quality> {
  await expectType(result);
  const [from, to] = [FORMATS[pair.input].category, FORMATS[pair.output].category];
  if (to === 'audio' || to === 'video') return judgeMedia(source, result, to);
  if (to === 'archive') return judgePages(source, result);
  if (to === 'image') return from === 'image' || from === 'video' ? judgePicture(source, result) : judgeDrawnPage(source, result);
  if (from === 'image') return { pages: expectPages(result) };
  return await judgeDocument(source, result, LOOSE.has(from) || LOOSE.has(to));
}

async function expectType({ bytes, format }: Judged): Promise<void> {
  expect(bytes.length).to.be.greaterThan(0);
  if (UNSNIFFED.has(format)) return;
  const type = await fileTypeFromBuffer(bytes);
  expect(SNIFFED_AS[format] ?? [format], `a reader says ${type?.mime ?? 'nothing'}, not ${mimeOf(format)}`).to.include(type?.ext);
}

function judgeMedia(source: Judged, result: Judged, to: Category): Quality {
  const after = probe(result.path);
  const [expected, seconds] = [lengthOf(source), decodedSeconds(result.path)];
  expect(Math.abs(seconds - expected), `lasts ${seconds} s instead of ${expected} s`).to.be.at.most(DURATION_OFF_MAX);
  expect(after.video !== undefined).to.equal(to === 'video');
  if (probe(source.path).audio) expect(after.audio).not.to.equal(undefined);
  return { seconds: Math.round(seconds * 1000) / 1000, off: Math.round(Math.abs(seconds - expected) * 1000) / 1000 };
}

/** By decoding, because the headers of films say what they like; of an animation all delays count, also that of its last picture. */
function lengthOf({ path, format }: Judged): number {
  return format === 'gif' ? (probe(path).durationS ?? 0) : decodedSeconds(path);
}

function judgePicture(source: Judged, result: Judged): Quality {
  const [before, after] = [source, result].map(({ path, bytes, format }) => (FORMATS[format].category === 'image' ? pictureOf(path, bytes, format) : { ...(probe(path).video ?? { width: 0, height: 0 }), frames: 1 }));
  if (!before || !after) throw new Error('two pictures are compared');
  if (source.format === 'gif' || source.format === 'webp') {
    if (result.format === 'gif' || result.format === 'webp') expect(after.frames).to.equal(before.frames);
  }
  expect(after.width, 'width in pixels').to.be.greaterThan(0);
  // An icon has a largest size, and an animation out of a film is made smaller; both keep their proportions.
  if (result.format === 'ico' || (result.format === 'gif' && FORMATS[source.format].category === 'video')) {
    expect(after.width / after.height).to.be.closeTo(before.width / before.height, 0.05);
  } else expect([after.width, after.height]).to.deep.equal([before.width, before.height]);
  return { width: after.width, height: after.height };
}

function judgeDrawnPage(source: Judged, result: Judged): Quality {
  if (result.format === 'svg') {
    expect(result.bytes.toString('utf8')).to.match(/<(path|text|use|image)\b/);
    return { size_bytes: result.bytes.length };
  }
  const { width, height } = pictureOf(result.path, result.bytes, result.format);
  if (source.format === 'pdf') {
    const page = pagesOf(source.path);
    for (const [pixels, points] of [[width, page.width], [height, page.height]] as const) expect(pixels).to.be.closeTo((points / POINTS_PER_INCH) * PAGE_DPI, 2);
  } else expect(Math.min(width, height)).to.be.greaterThan(100);
  return { width, height };
}

function judgePages(source: Judged, result: Judged): Quality {
  const pages = members(result.bytes, /\.(png|jpg)$/).length;
  if (source.format === 'pdf') expect(pages).to.equal(pagesOf(source.path).count);
  else expect(pages).to.be.greaterThan(0);
  return { pages };
}

function expectPages({ path }: Judged): number {
  const { count, fontsMissing, blank } = pagesOf(path);
  expect(count).to.be.greaterThan(0);
  expect(fontsMissing, 'fonts that are not embedded').to.deep.equal([]);
  expect(blank, 'pages with nothing on them').to.deep.equal([]);
  return count;
}

async function judgeDocument(source: Judged, result: Judged, loose: boolean): Promise<Quality> {
  const pages = result.format === 'pdf' ? { pages: expectPages(result) } : {};
  const before = await wordsOf(source.path, source.bytes, source.format, result.format);
  const after = await wordsOf(result.path, result.bytes, result.format);
  if (after === undefined) throw new Error(`nobody here reads ${result.format}`);
  expect(after.length, 'words in the result').to.be.greaterThan(0);
  if (before === undefined) return { ...pages, words: after.length };
  const kept = recall(before, after);
  expect(kept, 'part of the words that were kept').to.be.at.least(loose ? RECALL_MIN.sheetsAndSlides : RECALL_MIN.documents);
  return { ...pages, words: after.length, recall: Math.round(kept * 10_000) / 10_000 };
}
