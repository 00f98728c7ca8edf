import { crc32, deflateSync } from 'node:zlib';

/** Where the second chunk of a PNG begins: after the mark and the header chunk, which always comes first. */
const AFTER_HEADER = 33;

/** What stands before and after the data of a chunk: its length and type, and its checksum. */
const LENGTH_AND_TYPE_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** What is known about the colours and the making of a picture besides its pixels. */
export interface Tags {
  readonly icc?: Buffer | undefined;
  /** EXIF as TIFF, without the mark that JPEG puts before it. */
  readonly exif?: Buffer | undefined;
}

/** Puts a colour profile and EXIF into a PNG whose pixels they belong to; sharp could only convert the pixels to them. */
export function tagPng(png: Buffer, { icc, exif }: Tags): Buffer {
  const chunks = [
    ...(icc === undefined ? [] : [makeChunk('iCCP', Buffer.concat([Buffer.from('profile\0\0', 'latin1'), deflateSync(icc)]))]),
    ...(exif === undefined ? [] : [makeChunk('eXIf', exif)]),
  ];
  return Buffer.concat([png.subarray(0, AFTER_HEADER), ...chunks, png.subarray(AFTER_HEADER)]);
}

function makeChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** The data of all chunks of a type, in order. The PNG is one of our own making. */
export function readChunks(png: Buffer, type: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 8; at + LENGTH_AND_TYPE_BYTES <= png.length; ) {
    const data = at + LENGTH_AND_TYPE_BYTES;
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, data) === type) found.push(png.subarray(data, data + length));
    at = data + length + CHECKSUM_BYTES;
  }
  return found;
}
