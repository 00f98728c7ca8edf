import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { jp2Options, jxlOptions } from '../../../../shared/domain/catalogue/options/image-containers.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import { SNIFF_BYTES } from '../../../../shared/objects/sniff/heads.ts';
import { findTool } from '../../../../shared/tools/find-tool.ts';
import type { ConversionContext, ConversionRequest } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { readHead } from '../head.ts';
import { runProgram, type Ran } from '../run.ts';
import { readClaimedSize } from './headers.ts';
import { IMAGE_LIMITS, PIXELS_MAX } from './limits.ts';
import type { PackedOutput } from './outputs.ts';

type Bounds = Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>;

/** The decoder for each format that ffmpeg unpacks; it is never left to find out by itself what a file is. */
const DECODERS: Partial<Readonly<Record<FormatName, string>>> = {
  bmp: 'bmp',
  jp2: 'libopenjpeg',
  jxl: 'libjxl',
  pcx: 'pcx',
  ppm: 'ppm',
  psd: 'psd',
  qoi: 'qoi',
  tga: 'targa',
  xpm: 'xpm',
};

/** Modes of a PSD file that are decoded: bitmap, gray, indexed, RGB, duotone. Not CMYK, multichannel and Lab. */
const PSD_MODES: ReadonlySet<number> = new Set([0, 1, 2, 3, 8]);
/** Bits of a channel of a PSD file that are decoded; not the 32 of high dynamic range. */
const PSD_DEPTHS: ReadonlySet<number> = new Set([1, 8, 16]);

/** A QOI file ends so; its decoder does not notice when it was cut off. */
const QOI_END = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);

/** Effort with which a 12-megapixel photograph takes a second or two; the encoder's own default takes five times as long. */
const JXL_EFFORT = 3;

/** How often a JPEG 2000 picture can be shown at half its size; the encoder's own default. */
const JP2_RESOLUTIONS_MAX = 6;

/** Where a PNG says how wide and high it is. */
const PNG_WIDTH_AT = 16;
const PNG_HEIGHT_AT = 20;

/** True when ffmpeg has to unpack the format before sharp can draw it. */
export function isUnpacked(input: FormatName): boolean {
  return DECODERS[input] !== undefined;
}

/**
 * Unpacks a source into an uncompressed PNG beside it.
 * @throws EngineFailure `too_many_pixels`, `unsupported_feature`, `damaged`.
 */
export async function unpack({ job, source, input }: ConversionRequest, result: string, bounds: Bounds): Promise<void> {
  const decoder = DECODERS[input];
  if (decoder === undefined) throw new Defect(`ffmpeg does not unpack ${input}`);
  await checkHeader(join(job.path, source), input);
  // This demuxer takes the whole file as one picture, under exactly this name, and needs no extension to know what it is.
  const read = ['-f', 'image2', '-pattern_type', 'none', '-c:v', decoder, '-max_pixels', String(PIXELS_MAX), '-i', `./${source}`];
  const ran = await runFfmpeg(job, ['-err_detect', 'explode', ...read, '-frames:v', '1', '-c:v', 'png', '-compression_level', '0', '-f', 'image2', '-update', '1', `./${result}`], bounds);
  // Some decoders complain about a file that was cut off and go on; a picture with a hole in it is no result.
  if (ran.exit.code !== 0 || ran.exit.stderrTail !== '' || !(await isPlainFile(join(job.path, result)))) throw new EngineFailure('damaged');
}

/**
 * Makes the file of a format that sharp does not write out of the PNG that it has drawn.
 * @throws EngineFailure `engine_crashed`: the picture is our own, so it cannot be its fault.
 */
export async function pack({ job, options }: ConversionRequest, drawn: string, output: PackedOutput, result: string, bounds: Bounds): Promise<void> {
  const shortest = await shortestSide(join(job.path, drawn));
  const read = ['-f', 'image2', '-pattern_type', 'none', '-c:v', 'png', '-i', `./${drawn}`];
  const { exit } = await runFfmpeg(job, [...read, ...encoderArguments(output, options, shortest), '-f', 'image2', '-update', '1', `./${result}`], bounds);
  if (exit.code !== 0) throw new EngineFailure('engine_crashed', exit.stderrTail);
}

function encoderArguments(output: PackedOutput, options: unknown, shortestPx: number): string[] {
  switch (output) {
    case 'bmp':
    case 'pcx':
    case 'ppm':
      return ['-c:v', output, '-pix_fmt', output === 'bmp' ? 'bgr24' : 'rgb24'];
    case 'qoi':
      return ['-c:v', 'qoi'];
    case 'tga':
      return ['-c:v', 'targa'];
    case 'jp2': {
      const { quality = 80, lossless } = jp2Options.parse(options);
      const loss = lossless === true || quality === 100 ? [] : ['-irreversible', '1', '-compression_level', String(jp2Ratio(quality))];
      // Each resolution halves the picture, and the encoder refuses one that leaves nothing of it.
      return ['-c:v', 'libopenjpeg', '-numresolution', String(Math.min(JP2_RESOLUTIONS_MAX, Math.floor(Math.log2(shortestPx)) + 1)), ...loss];
    }
    case 'jxl': {
      const { quality = 90, lossless, effort = JXL_EFFORT } = jxlOptions.parse(options);
      return ['-c:v', 'libjxl', '-effort', String(effort), '-distance', String(lossless === true ? 0 : jxlDistance(quality))];
    }
  }
}

/** How many times smaller than uncompressed the file is to be; 11 at quality 80, where differences begin to be seen. */
function jp2Ratio(quality: number): number {
  return Math.round(1 + (100 - quality) / 2);
}

/** The distance that JPEG XL's own tools take for a quality; 1 is what the eye can just not see, at 90. */
function jxlDistance(quality: number): number {
  if (quality >= 30) return 0.1 + (100 - quality) * 0.09;
  return Math.min(15, (53 / 3000) * quality ** 2 - (23 / 20) * quality + 25);
}

async function checkHeader(path: string, input: FormatName): Promise<void> {
  const head = await readHead(path, SNIFF_BYTES);
  const size = readClaimedSize(input, head);
  if (size !== undefined && size.width * size.height > PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  if (input === 'psd' && head.length >= 26 && !(PSD_MODES.has(head.readUInt16BE(24)) && PSD_DEPTHS.has(head.readUInt16BE(22)))) throw new EngineFailure('unsupported_feature');
  if (input === 'qoi' && !(await endsWith(path, QOI_END))) throw new EngineFailure('damaged');
}

async function endsWith(path: string, expected: Buffer): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(expected.length), 0, expected.length, Math.max(0, size - expected.length));
    return buffer.subarray(0, bytesRead).equals(expected);
  } finally {
    await file.close();
  }
}

async function shortestSide(png: string): Promise<number> {
  const head = (await isPlainFile(png)) ? await readHead(png, PNG_HEIGHT_AT + 4) : Buffer.alloc(0);
  if (head.length < PNG_HEIGHT_AT + 4) throw new EngineFailure('engine_crashed', 'it drew nothing');
  return Math.min(head.readUInt32BE(PNG_WIDTH_AT), head.readUInt32BE(PNG_HEIGHT_AT));
}

/** Looked at before it is opened: a program that a file took over could leave a pipe there, on which we would wait for ever. */
async function isPlainFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && found.isFile() && found.size > 0;
}

function runFfmpeg(job: ConversionRequest['job'], args: readonly string[], bounds: Bounds): Promise<Ran> {
  const command = findTool('ffmpeg');
  if (command === undefined) throw new Defect('ffmpeg was found at the start and is gone');
  // A file may name others only where a protocol lets it; one thread, so that parallel jobs share the processors fairly.
  const common = ['-nostdin', '-v', 'error', '-y', '-protocol_whitelist', 'file', '-threads', '1'];
  return runProgram({ program: { command, args: [...common, ...args], readable: [] }, job, limits: IMAGE_LIMITS, busyThreads: 1 }, bounds);
}
