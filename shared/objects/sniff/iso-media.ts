import { all, any, has, type HeadTest } from './bytes.ts';

/** Main brands of files that hold a picture, not a film. */
const PICTURES: ReadonlySet<string> = new Set(['avif', 'avis', 'heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1', 'miaf', 'jp2 ', 'jpx ', 'jpm ', 'jxl ', 'crx ']);
/** Brands of H.265 pictures. */
const HEIC: ReadonlySet<string> = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs']);
const AVIF: ReadonlySet<string> = new Set(['avif', 'avis']);
/** Main brands that only say that there is a picture, or several; the compatible ones say of which kind. */
const ANY_PICTURE: ReadonlySet<string> = new Set(['mif1', 'msf1', 'miaf']);

/** Boxes that a QuickTime file from before brands begins with. */
const QUICKTIME_BOXES = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'] as const;

/** Brands that are read, the main one first; more than any file names, and a bound on the work. */
const BRANDS_MAX = 64;

/** The brands of an ISO media file, the main one first; none where it has no file type box at its start. */
function brandsOf(head: Buffer): readonly string[] {
  if (!has('ftyp', 4)(head) || head.length < 16) return [];
  const end = Math.min(head.readUInt32BE(0), head.length, 16 + 4 * BRANDS_MAX);
  const brands = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}

function isPictureOf(kind: ReadonlySet<string>): HeadTest {
  return (head) => {
    const [main = '', ...compatible] = brandsOf(head);
    return kind.has(main) || (ANY_PICTURE.has(main) && compatible.some((brand) => kind.has(brand)));
  };
}

/** An H.265 picture. */
export const isHeic: HeadTest = isPictureOf(HEIC);

/** An AV1 picture. */
export const isAvif: HeadTest = isPictureOf(AVIF);

/**
 * A film or a recording in the container of QuickTime and MPEG-4. What mp4, m4v, mov, m4a and 3gp are called is often
 * mixed up, they are read by one demuxer, and only the tracks inside say whether there is a picture.
 */
export const isIsoFilm: HeadTest = any(
  (head) => {
    const [main] = brandsOf(head);
    return main !== undefined && !PICTURES.has(main);
  },
  all(
    any(...QUICKTIME_BOXES.map((box) => has(box, 4))),
    (head) => head.length >= 8 && (head.readUInt32BE(0) >= 8 || head.readUInt32BE(0) === 1),
  ),
);
