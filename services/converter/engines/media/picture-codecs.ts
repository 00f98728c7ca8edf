import type { FilmOptions } from '../../../../shared/domain/catalogue/options/video.ts';
import { THREADS } from './limits.ts';
import type { Size } from './size.ts';

/** Codecs of moving pictures that are written, as ffprobe calls them. */
export type PictureCodec = 'h264' | 'hevc' | 'vp8' | 'vp9' | 'mpeg4';

/** Kilobits a second that VP8 is given for a megapixel; its `crf` alone bounds nothing. */
const VP8_KBITS_PER_MEGAPIXEL = 4_000;

/** Arguments of the encoder of a picture; every value is a number, or a word of ours. */
export function encoderArguments(codec: PictureCodec, size: Size, options: FilmOptions): string[] {
  const { video_bitrate, preset } = options;
  const rate = video_bitrate === undefined ? undefined : ['-b:v', `${video_bitrate}k`];
  const crf = (fallback: number): string[] => ['-crf', String(options.crf ?? fallback)];
  const threads = ['-threads:v', String(THREADS)];
  switch (codec) {
    case 'h264':
      return ['-c:v', 'libx264', '-preset', preset ?? 'veryfast', ...(rate ?? crf(23)), ...threads];
    case 'hevc':
      return ['-c:v', 'libx265', '-preset', preset ?? 'veryfast', ...(rate ?? crf(28)), '-x265-params', `log-level=error:pools=${THREADS}:frame-threads=1`];
    case 'vp9':
      return ['-c:v', 'libvpx-vp9', ...speedOfVpx(preset), '-row-mt', '1', ...(rate ?? ['-b:v', '0', ...crf(33)]), ...threads];
    case 'vp8': {
      const kbits = Math.ceil((size.width * size.height * VP8_KBITS_PER_MEGAPIXEL) / 1_000_000) + 200;
      return ['-c:v', 'libvpx', ...speedOfVpx(preset), ...(rate ?? ['-b:v', `${kbits}k`, ...crf(10)]), ...threads];
    }
    case 'mpeg4':
      return ['-c:v', 'mpeg4', '-vtag', 'xvid', ...(rate ?? ['-q:v', '4']), ...threads];
  }
}

/** The encoder's own default takes ten times as long as the film; this one about as long as the film, or less. */
function speedOfVpx(preset: FilmOptions['preset']): string[] {
  return preset === 'good' ? ['-deadline', 'good', '-cpu-used', '4'] : ['-deadline', 'realtime', '-cpu-used', '8'];
}
