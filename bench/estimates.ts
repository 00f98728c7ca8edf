import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { createImageEngine } from '../services/converter/engines/image/engine.ts';
import { createMediaEngine } from '../services/converter/engines/media/engine.ts';
import { createOfficeEngine } from '../services/converter/engines/office/engine.ts';
import { createOfficePool } from '../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../services/converter/engines/pdf/engine.ts';
import { createSandbox } from '../services/converter/sandbox/sandbox.ts';
import { FORMATS, type FormatName } from '../shared/domain/catalogue/formats.ts';
import { listPairs, type Pair } from '../shared/domain/catalogue/pairs.ts';
import { convertIn } from '../test/contract/engine/suite.ts';
import { fixturePath } from '../test/support/fixtures.ts';
import { median } from './table.ts';

/**
 * Measures a typical file of each kind of conversion and writes `shared/domain/catalogue/measurements.ts`, from which
 * the credits that a job holds follow. To be run on a machine that does nothing else.
 */
const RUNS = 3;
const TIME_LIMIT_MS = 3_600_000;
/** Length of the recording and of the film, seconds. */
const [SOUND_SECONDS, FILM_SECONDS] = [600, 60];
const [PHOTO_WIDTH, PHOTO_HEIGHT] = [4000, 3000];

type Typical = { readonly input: FormatName; readonly what: string; readonly bytes: Buffer };

/** Targets by which a kind is judged, the usual ones first: a film to webm is encoded anew, to mp4 it might be copied. */
const USUAL: readonly FormatName[] = ['webp', 'webm', 'docx', 'xlsx', 'pptx', 'pdf', 'zip', 'mp3', 'gif', 'html'];

const folder = await mkdtemp(join(tmpdir(), 'bench-estimates-'));
const sandbox = await createSandbox({ mode: 'require' });
const pool = createOfficePool({ slots: 1, isolation: 'strict' });
const pictures = createImageEngine();
const pdf = createPdfEngine(pool);
const engines = [pictures, pdf, createOfficeEngine(pool, pdf), createMediaEngine(pictures)];
try {
  const typical = await makeTypicalFiles();
  const kinds = new Map<string, Pair[]>();
  for (const pair of listPairs()) {
    const kind = `${FORMATS[pair.input].category}>${FORMATS[pair.output].category}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), pair]);
  }
  const rows: string[] = [];
  for (const [kind, pairs] of kinds) {
    const [from = '', to = ''] = kind.split('>');
    const found = choose(pairs, typical);
    if (!found) throw new Error(`there is no typical file for ${kind}`);
    const { pair, file } = found;
    const engine = engines.find(({ name }) => name === pair.engine);
    if (!engine) throw new Error(`there is no engine ${pair.engine}`);
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) times.push((await convertIn(sandbox, engine, { source: file.bytes, input: pair.input, output: pair.output, timeLimitMs: TIME_LIMIT_MS })).billableMs);
    const ms = Math.round(median(times));
    process.stderr.write(`${pair.input} to ${pair.output}: ${ms} ms (${file.what})\n`);
    rows.push(`  { from: '${from}', to: '${to}', pair: '${pair.input} to ${pair.output}', file: '${file.what}', median_ms: ${ms} },`);
  }
  await writeFile(join(import.meta.dirname, '../shared/domain/catalogue/measurements.ts'), composeModule(rows));
} finally {
  for (const engine of engines) await engine.stop();
  await pool.stop();
  await rm(folder, { recursive: true, force: true });
}

function choose(pairs: readonly Pair[], typical: readonly Typical[]): { readonly pair: Pair; readonly file: Typical } | undefined {
  for (const pair of pairs.toSorted((a, b) => rank(a) - rank(b))) {
    const file = typical.find(({ input }) => input === pair.input);
    if (file) return { pair, file };
  }
  return undefined;
}

/** How usual a target is; the lowest is the most usual. */
function rank({ output }: Pair): number {
  return USUAL.includes(output) ? USUAL.indexOf(output) : USUAL.length;
}

async function makeTypicalFiles(): Promise<readonly Typical[]> {
  const photo = await sharp(await fixture('IMG_1054.JPG')).resize(PHOTO_WIDTH, PHOTO_HEIGHT, { fit: 'fill' }).jpeg({ quality: 90 }).toBuffer();
  return [
    { input: 'jpg', what: 'photograph of 12 megapixels', bytes: photo },
    { input: 'gif', what: 'animation of 20 pictures', bytes: await fixture('terminal.gif') },
    { input: 'pdf', what: 'manual of 36 pages', bytes: await fixture('libtasn1.pdf') },
    { input: 'docx', what: 'text of 4 pages', bytes: await fixture('cases.docx') },
    { input: 'xlsx', what: 'workbook of 29 printed pages', bytes: await fixture('datasets.xlsx') },
    { input: 'ppt', what: '28 slides', bytes: await fixture('slides.ppt') },
    { input: 'pages', what: 'text of a page', bytes: await fixture('pages5-file.pages') },
    { input: 'numbers', what: 'sheet of a page', bytes: await fixture('numbers3-file.numbers') },
    { input: 'key', what: 'a few slides', bytes: await fixture('keynote5-file.key') },
    { input: 'wav', what: 'recording of ten minutes', bytes: await repeat('speech.wav', 'wav', SOUND_SECONDS, []) },
    { input: 'mp4', what: 'film of one minute, 1280 × 720', bytes: await repeat('film.mp4', 'mp4', FILM_SECONDS, ['-vf', 'scale=1280:720', '-c:v', 'libx264', '-preset', 'veryfast', '-c:a', 'aac']) },
  ];
}

function fixture(name: string): Promise<Buffer> {
  return readFile(fixturePath(name));
}

/** A short recording again and again until it is long. */
async function repeat(name: string, format: string, lengthSeconds: number, more: readonly string[]): Promise<Buffer> {
  const path = join(folder, `long.${format}`);
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-stream_loop', '-1', '-i', fixturePath(name), '-t', String(lengthSeconds), ...more, path]);
  return readFile(path);
}

function composeModule(rows: readonly string[]): string {
  return `import type { Measurement } from './estimates.ts';

/** Written by \`npm run bench:estimates\` on ${new Date().toISOString().slice(0, 10)}, on ${cpus().length} processors. */
export const MEASUREMENTS: readonly Measurement[] = [
${rows.join('\n')}
];
`;
}
