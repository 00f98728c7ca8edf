import type { FilmOptions } from '../../../../shared/domain/catalogue/options/video.ts';
import type { StreamAnswer } from './inspect.ts';
import { fitFilm, shownSize, type Fitted, type Size } from './size.ts';

/** Turns by the option `rotate`, clockwise. */
const TURNS: Readonly<Record<90 | 180 | 270, string>> = { 90: 'transpose=clock', 180: 'hflip,vflip', 270: 'transpose=cclock' };

/** Brightness curves of films for screens with a high dynamic range. */
const HIGH_RANGE: ReadonlySet<string | undefined> = new Set(['smpte2084', 'arib-std-b67']);

/** Maps high dynamic range to what every screen shows; without it such films look washed out. */
const TONE_MAP = ['zscale=tin=TRANSFER:pin=bt2020:min=bt2020nc:rin=tv:t=linear:npl=100', 'format=gbrpf32le', 'zscale=p=bt709', 'tonemap=hable:desat=0', 'zscale=t=bt709:m=bt709:r=tv'].join(',');

const INTERLACED: ReadonlySet<string | undefined> = new Set(['tt', 'bb', 'tb', 'bt']);

/** What a film is drawn like, and the filters that do so; made of words and numbers of ours only. */
export interface Drawing {
  readonly size: Size;
  readonly filters: readonly string[];
}

/** The filters from a decoded frame to one of the right size: whole frames, ordinary brightness, square pixels, turned. */
export function drawFilm(stream: StreamAnswer, options: Pick<FilmOptions, 'width' | 'height' | 'fit' | 'rotate' | 'fps'>): Drawing {
  const { rotate, fps } = options;
  const shown = shownSize(stream);
  const turned = rotate === 90 || rotate === 270 ? { width: shown.height, height: shown.width } : shown;
  const fitted = fitFilm(turned, options);
  const filters = [
    ...(INTERLACED.has(stream.field_order) ? ['yadif=deint=interlaced'] : []),
    ...(HIGH_RANGE.has(stream.color_transfer) ? [TONE_MAP.replace('TRANSFER', stream.color_transfer === 'smpte2084' ? 'smpte2084' : 'arib-std-b67')] : []),
    ...(rotate === undefined ? [] : [TURNS[rotate]]),
    ...(fps === undefined ? [] : [`fps=${fps.toFixed(3)}`]),
    ...sizeFilters(fitted),
    'setsar=1',
  ];
  return { size: fitted.whole, filters };
}

function sizeFilters({ drawn, whole }: Fitted): string[] {
  const scale = `scale=${drawn.width}:${drawn.height}:flags=bicubic`;
  if (drawn.width > whole.width || drawn.height > whole.height) return [scale, `crop=${whole.width}:${whole.height}`];
  if (drawn.width === whole.width && drawn.height === whole.height) return [scale];
  return [scale, `pad=${whole.width}:${whole.height}:(ow-iw)/2:(oh-ih)/2`];
}
