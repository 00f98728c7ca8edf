import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { unzipSync } from 'fflate';
import { imageSize } from 'image-size';
import sharp from 'sharp';
import { resultFile } from '../../../services/converter/simulated/result-file.ts';
import { FORMATS, type Category, type FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { listPairs } from '../../../shared/domain/catalogue/pairs.ts';
import { decodedSeconds, probe } from '../../engines/readers/media.ts';
import { matchesDeclared, SNIFF_BYTES } from '../../../shared/objects/sniff/heads.ts';
import { wordsOf } from '../../engines/readers/words.ts';

/** Far above any of them; what a rehearsal downloads should not weigh anything. */
const RESULT_BYTES_MAX = 64 * 1024;

const OFFICE: ReadonlySet<Category> = new Set(['document', 'spreadsheet', 'presentation']);

/** Reads a file with a program that had no part in making it; throws when it is not of the format. */
async function verify(format: FormatName, bytes: Buffer): Promise<void> {
  const category: Category = FORMATS[format].category;
  if (format === 'txt') expect(bytes.toString('utf8')).to.match(/^\w[\w .]+\n$/);
  else if (category === 'archive') expect(Object.values(unzipSync(bytes)).map((member) => imageSize(member).type)).to.deep.equal(['png']);
  else if (category === 'pdf') expect(execFileSync('pdftotext', ['-', '-'], { input: bytes }).toString()).to.include('test job');
  else if (UNDECODED.has(format)) verifySize(format, bytes);
  else if (category === 'audio' || category === 'video') verifyRecording(format, category);
  else if (OFFICE.has(category)) expect((await wordsOf(resultFile(format), bytes, format))?.join('')).to.include('testjob');
  else await verifyPicture(format, bytes, category);
}

/** A tone of a fifth of a second, with sixteen lines of colours where it is a film; all of it is decoded. */
function verifyRecording(format: FormatName, category: Category): void {
  const path = resultFile(format);
  const { audio, video } = probe(path);
  expect([audio !== undefined, video?.width]).to.deep.equal([true, category === 'video' ? 16 : undefined]);
  expect(decodedSeconds(path)).to.be.closeTo(0.2, 0.1);
}

/** Pictures that sharp does not read. Of PCX and QOI only ffmpeg knows the size. */
const UNDECODED: ReadonlySet<FormatName> = new Set(['bmp', 'ico', 'jp2', 'jxl', 'pcx', 'ppm', 'qoi', 'tga']);

function verifySize(format: FormatName, bytes: Buffer): void {
  const decoded = execFileSync('ffmpeg', ['-v', 'error', '-i', resultFile(format), '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']);
  expect(decoded).to.have.length(16 * 16 * 3);
  if (format !== 'pcx' && format !== 'qoi') expect(imageSize(bytes)).to.include({ width: 16, height: 16 });
}

async function verifyPicture(format: FormatName, bytes: Buffer, category: Category): Promise<void> {
  expect(category, 'a category for which there is a reader here').to.equal('image');
  const { type, width, height } = imageSize(bytes);
  expect([type === 'tif' ? 'tiff' : type, width, height]).to.deep.equal([format, 16, 16]);
  // All of it can be decoded, not only the head.
  expect(await sharp(bytes, { failOn: 'warning' }).raw().toBuffer()).to.have.length.greaterThan(16 * 16);
}

describe('the results of simulated conversions (§5.3, D65)', () => {
  const outputs = [...new Set(listPairs().map(({ output }) => output))];

  for (const format of outputs) {
    it(`are really ${format} where ${format} was asked for`, async () => {
      const bytes = await readFile(resultFile(format));
      expect(bytes.length).to.be.within(1, RESULT_BYTES_MAX);
      expect(matchesDeclared(bytes.subarray(0, SNIFF_BYTES), format)).to.equal(true);
      await verify(format, bytes);
    });
  }

  it('are there for every output format of the catalogue and for nothing else', async () => {
    const files = (await readdir(dirname(resultFile('png')))).filter((name) => name.startsWith('result.'));
    expect(files.sort()).to.deep.equal(outputs.map((format) => `result.${format}`).sort());
  });
});
