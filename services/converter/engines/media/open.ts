import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import { readHead } from '../head.ts';
import { FRAME_PIXELS_MAX } from './limits.ts';

/** The one reader that each format is opened with; ffmpeg never guesses, so a list of other files is never followed. */
const DEMUXERS: Partial<Readonly<Record<FormatName, string>>> = {
  aac: 'aac',
  aiff: 'aiff',
  avi: 'avi',
  flac: 'flac',
  flv: 'flv',
  gif: 'gif',
  m4a: 'mov',
  mkv: 'matroska',
  mov: 'mov',
  mp3: 'mp3',
  mp4: 'mov',
  mpg: 'mpeg',
  ogg: 'ogg',
  opus: 'ogg',
  wav: 'wav',
  webm: 'matroska',
  wma: 'asf',
  wmv: 'asf',
};

/** First bytes of an MPEG film without a container around it. */
const MPEG_SEQUENCE = Buffer.from([0, 0, 1, 0xb3]);

/** The reader for a source. */
export async function demuxerOf(path: string, input: FormatName): Promise<string> {
  const demuxer = DEMUXERS[input];
  if (demuxer === undefined) throw new Defect(`no reader for ${input}`);
  if (demuxer === 'mpeg' && (await readHead(path, MPEG_SEQUENCE.length)).equals(MPEG_SEQUENCE)) return 'mpegvideo';
  return demuxer;
}

/**
 * Arguments that stand before `-i`, for ffmpeg and ffprobe alike: files only, one reader only, no frame above the limit.
 * Every path is relative to the job's folder and begins with a dot, so none is ever taken for an option or an address.
 */
export function openArguments(demuxer: string): string[] {
  return ['-protocol_whitelist', 'file,pipe', '-format_whitelist', demuxer, '-f', demuxer, '-max_pixels', String(FRAME_PIXELS_MAX)];
}
