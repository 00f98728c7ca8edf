import { execFileSync } from 'node:child_process';

/** What a HEIC file made for a test says about its picture. */
export interface HeicOptions {
  /** Quarter turns against the clock that a reader has to make (the property `irot`). */
  readonly quarterTurns?: 0 | 1 | 2 | 3;
  /** Colour profile. */
  readonly icc?: Buffer;
  /** EXIF as TIFF. */
  readonly exif?: Buffer;
}

const SEQUENCE_SETS = new Set([32, 33, 34]);

/** Makes a HEIC file of RGB pixels whose sides are multiples of 16, with ffmpeg's encoder and boxes written here. */
export function makeHeic(pixels: Buffer, width: number, height: number, { quarterTurns = 0, icc, exif }: HeicOptions = {}): Buffer {
  const stream = execFileSync(
    'ffmpeg',
    ['-v', 'error', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${width}x${height}`, '-i', '-', '-vf', 'scale=out_color_matrix=bt709:out_range=pc', '-pix_fmt', 'yuv420p', '-frames:v', '1', '-c:v', 'libx265', '-x265-params', 'crf=8:log-level=none:info=0:colormatrix=bt709:range=full', '-f', 'hevc', '-'],
    { input: pixels, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  const units = splitUnits(stream);
  const sets = units.filter((unit) => SEQUENCE_SETS.has(typeOf(unit)));
  const picture = Buffer.concat(units.flatMap((unit) => (typeOf(unit) < 32 ? [uint32(unit.length), unit] : [])));
  const exifItem = exif === undefined ? Buffer.alloc(0) : Buffer.concat([uint32(0), exif]);
  const properties = [
    decoderConfiguration(sets),
    box('ispe', uint32(0), uint32(width), uint32(height)),
    ...(icc === undefined ? [] : [box('colr', Buffer.from('prof', 'latin1'), icc)]),
    ...(quarterTurns === 0 ? [] : [box('irot', Buffer.from([quarterTurns]))]),
  ];
  const items = exif === undefined ? [picture.length] : [picture.length, exifItem.length];
  const head = (start: number): Buffer => Buffer.concat([box('ftyp', 'heic', uint32(0), 'mif1heic'), metaBox(properties, items, start)]);
  return Buffer.concat([head(head(0).length + 8), box('mdat', picture, exifItem)]);
}

function metaBox(properties: readonly Buffer[], items: readonly number[], start: number): Buffer {
  const entries = items.map((_, index) => box('infe', Buffer.from([2, 0, 0, 0]), uint16(index + 1), uint16(0), index === 0 ? 'hvc1\0' : 'Exif\0'));
  const places = items.map((length, index) => Buffer.concat([uint16(index + 1), uint16(0), uint16(1), uint32(start + (index === 0 ? 0 : (items[0] ?? 0))), uint32(length)]));
  const associations = Buffer.from(properties.map((_, index) => 0x80 | (index + 1)));
  return box(
    'meta',
    uint32(0),
    box('hdlr', uint32(0), uint32(0), 'pict', Buffer.alloc(13)),
    box('pitm', uint32(0), uint16(1)),
    box('iloc', uint32(0), Buffer.from([0x44, 0]), uint16(items.length), ...places),
    box('iinf', uint32(0), uint16(items.length), ...entries),
    ...(items.length === 1 ? [] : [box('iref', uint32(0), box('cdsc', uint16(2), uint16(1), uint16(1)))]),
    box('iprp', box('ipco', ...properties), box('ipma', uint32(0), uint32(1), uint16(1), Buffer.from([properties.length]), associations)),
  );
}

/** Main profile, eight bits, 4:2:0, and the sets that a decoder begins with. */
function decoderConfiguration(sets: readonly Buffer[]): Buffer {
  const general = Buffer.from([1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 60, 0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, sets.length]);
  return box('hvcC', general, ...sets.flatMap((set) => [Buffer.from([0x80 | typeOf(set)]), uint16(1), uint16(set.length), set]));
}

function typeOf(unit: Buffer): number {
  return ((unit[0] ?? 0) >> 1) & 0x3f;
}

/** Units of a raw stream lie between start codes of three or four bytes. */
function splitUnits(stream: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = stream.indexOf('\0\0\x01', 0, 'latin1'); at >= 0; at = stream.indexOf('\0\0\x01', at + 3, 'latin1')) starts.push(at);
  return starts.map((start, index) => {
    const next = starts[index + 1] ?? stream.length;
    return stream.subarray(start + 3, stream[next - 1] === 0 && index + 1 < starts.length ? next - 1 : next);
  });
}

function box(type: string, ...contents: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(contents.map((content) => (typeof content === 'string' ? Buffer.from(content, 'latin1') : content)));
  return Buffer.concat([uint32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
