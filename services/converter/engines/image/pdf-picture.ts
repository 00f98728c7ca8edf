import type { Box, Laid } from './pdf-layout.ts';
import { readChunks } from './png-chunks.ts';

/** A picture ready to be put into a PDF. Its size is that of the picture put upright. */
export interface PdfPicture extends Laid {
  readonly pixels: StoredPixels;
  /** How opaque each pixel is: a gray PNG of the same size. */
  readonly mask?: Buffer;
  /** How it is turned, as EXIF counts, 1 to 8. */
  readonly orientation: number;
}

/** Pixels as they go into the file. */
export type StoredPixels =
  | { readonly kind: 'png'; readonly png: Buffer }
  | {
      readonly kind: 'jpeg';
      readonly jpeg: Buffer;
      readonly stored: { readonly width: number; readonly height: number };
      readonly channels: 1 | 3;
      /** The colours its pixels are meant in; sRGB without. */
      readonly icc?: Buffer;
    };

/** Upright place of a pixel by orientation: how far right and down, each out of its stored right, down, and a constant. */
const UPRIGHT = [
  [1, 0, 0, 0, 1, 0],
  [-1, 0, 1, 0, 1, 0],
  [-1, 0, 1, 0, -1, 1],
  [1, 0, 0, 0, -1, 1],
  [0, 1, 0, 1, 0, 0],
  [0, -1, 1, 1, 0, 0],
  [0, -1, 1, -1, 0, 1],
  [0, 1, 0, -1, 0, 1],
] as const;

/** Paints the picture on the current page. */
export function addPicture(document: PDFKit.PDFDocument, picture: PdfPicture, { x, y, width, height }: Box, clip: Box): void {
  const dictionary = { Type: 'XObject', Subtype: 'Image', ...(picture.mask === undefined ? {} : { SMask: embed(document, pngDictionary(picture.mask), pngData(picture.mask)) }) };
  const image =
    picture.pixels.kind === 'png'
      ? embed(document, { ...dictionary, ...pngDictionary(picture.pixels.png) }, pngData(picture.pixels.png))
      : embed(document, { ...dictionary, ...jpegDictionary(document, picture.pixels) }, picture.pixels.jpeg);
  Object.assign(xObjects(document.page), { Picture: image });
  const [rightByRight, rightByDown, right, downByRight, downByDown, down] = UPRIGHT[picture.orientation - 1] ?? UPRIGHT[0];
  document.save().rect(clip.x, clip.y, clip.width, clip.height).clip();
  // A picture is one unit wide and high and begins at its lower left; the page is measured from its upper left.
  document.transform(rightByRight * width, downByRight * height, -rightByDown * width, -downByDown * height, x + (right + rightByDown) * width, y + (down + downByDown) * height);
  document.addContent('/Picture Do');
  document.restore();
}

/** The pictures that a page knows by name; the declarations leave open what they are. */
function xObjects(page: { readonly xobjects: unknown }): object {
  if (typeof page.xobjects !== 'object' || page.xobjects === null) throw new TypeError('a page without pictures');
  return page.xobjects;
}

function embed(document: PDFKit.PDFDocument, dictionary: object, data: Buffer): PDFKit.PDFKitReference {
  const reference = document.ref(dictionary);
  reference.end(data);
  return reference;
}

/** The pixels of a PNG are stored in the way that PDF knows, too. */
function pngData(png: Buffer): Buffer {
  return Buffer.concat(readChunks(png, 'IDAT'));
}

function pngDictionary(png: Buffer): object {
  const [header] = readChunks(png, 'IHDR');
  if (header === undefined) throw new TypeError('a PNG without a header');
  const [width, height, bits] = [header.readUInt32BE(0), header.readUInt32BE(4), header.readUInt8(8)];
  const colours = header.readUInt8(9) === 0 ? 1 : 3;
  return {
    Type: 'XObject',
    Subtype: 'Image',
    Width: width,
    Height: height,
    BitsPerComponent: bits,
    ColorSpace: deviceSpace(colours),
    Filter: 'FlateDecode',
    DecodeParms: { Predictor: 15, Colors: colours, BitsPerComponent: bits, Columns: width },
  };
}

function jpegDictionary(document: PDFKit.PDFDocument, { stored, channels, icc }: Extract<StoredPixels, { kind: 'jpeg' }>): object {
  const profile = icc === undefined ? undefined : embed(document, { N: channels, Alternate: deviceSpace(channels) }, icc);
  return {
    Width: stored.width,
    Height: stored.height,
    BitsPerComponent: 8,
    ColorSpace: profile === undefined ? deviceSpace(channels) : ['ICCBased', profile],
    Filter: 'DCTDecode',
  };
}

function deviceSpace(channels: 1 | 3): string {
  return channels === 1 ? 'DeviceGray' : 'DeviceRGB';
}
