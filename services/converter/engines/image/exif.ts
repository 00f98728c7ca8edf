/** The tag that says how a picture is turned. */
const ORIENTATION_TAG = 0x0112;

/** Tags of the first directory that are looked at; real ones have a few dozen. */
const TAGS_MAX = 500;

/**
 * EXIF of a picture whose pixels are upright already: out of what a file holds, without the mark before it, and with an
 * orientation that nobody turns the picture by again. Undefined where it makes no sense.
 */
export function uprightExif(exif: Buffer): Buffer | undefined {
  const tiff = Buffer.from(exif.toString('latin1', 0, 4) === 'Exif' ? exif.subarray(6) : exif);
  try {
    const order = tiff.toString('latin1', 0, 2);
    if (order !== 'II' && order !== 'MM') return undefined;
    const [short, long] = order === 'II' ? [(at: number) => tiff.readUInt16LE(at), (at: number) => tiff.readUInt32LE(at)] : [(at: number) => tiff.readUInt16BE(at), (at: number) => tiff.readUInt32BE(at)];
    const directory = long(4);
    for (let index = 0; index < Math.min(short(directory), TAGS_MAX); index += 1) {
      const at = directory + 2 + 12 * index;
      if (short(at) !== ORIENTATION_TAG) continue;
      if (order === 'II') tiff.writeUInt16LE(1, at + 8);
      else tiff.writeUInt16BE(1, at + 8);
    }
    return tiff;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
