import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import openLibheif, { type Libheif } from 'libheif-js/libheif-wasm/libheif.js';
import sharp from 'sharp';
import { EngineFailure } from '../failure.ts';
import { uprightExif } from './exif.ts';
import { PIXELS_MAX } from './limits.ts';
import { tagPng, type Tags } from './png-chunks.ts';

/** What the library says goes nowhere: our stdout carries the answer, and a file may make it say anything. */
const silent = (): void => undefined;

/** Loads the decoder; it takes a tenth of a second, so only who needs it does. */
function openDecoder(): Libheif {
  const path = createRequire(import.meta.url).resolve('libheif-js/libheif-wasm/libheif.wasm');
  return openLibheif({ wasmBinary: readFileSync(path), print: silent, printErr: silent });
}

/** Version of the library, when it can be loaded here. */
export function heifVersion(): string {
  return openDecoder().heif_get_version();
}

/**
 * The primary picture of a HEIC file as PNG, upright, with its colour profile, and with its EXIF, which then no longer
 * asks to be turned. The libvips of sharp reads the tags of such files, but for want of a decoder not their pixels.
 * @throws EngineFailure `damaged`, `too_many_pixels`.
 */
export async function readHeic(bytes: Buffer): Promise<Buffer> {
  const lib = openDecoder();
  const context = lib.heif_context_alloc();
  if (lib.heif_context_read_from_memory(context, bytes).code !== lib.heif_error_code.heif_error_Ok) throw new EngineFailure('damaged');
  const handle = lib.heif_js_context_get_primary_image_handle(context);
  if (handle === undefined || handle.code !== undefined) throw new EngineFailure('damaged');
  const [width, height] = [lib.heif_image_handle_get_width(handle), lib.heif_image_handle_get_height(handle)];
  if (width * height > PIXELS_MAX) throw new EngineFailure('too_many_pixels');
  const channels = lib.heif_image_handle_has_alpha_channel(handle) === 0 ? 3 : 4;
  const chroma = channels === 3 ? lib.heif_chroma.heif_chroma_interleaved_RGB : lib.heif_chroma.heif_chroma_interleaved_RGBA;
  const decoded = await lib.heif_js_decode_image2(handle, lib.heif_colorspace.heif_colorspace_RGB, chroma);
  const plane = decoded.channels?.find(({ id }) => id === lib.heif_channel.heif_channel_interleaved);
  if (plane === undefined || plane.width !== width || plane.height !== height) throw new EngineFailure('damaged');
  const pixels = packRows(plane, width * channels);
  const png = await sharp(pixels, { raw: { width, height, channels }, limitInputPixels: PIXELS_MAX }).png({ compressionLevel: 0 }).toBuffer();
  return tagPng(png, await readTags(bytes));
}

/** Rows of a decoded picture may be filled up to a round number of bytes. */
function packRows({ data, stride, height }: { readonly data: Uint8Array; readonly stride: number; readonly height: number }, rowBytes: number): Uint8Array {
  if (stride === rowBytes) return data;
  const packed = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row += 1) packed.set(data.subarray(row * stride, row * stride + rowBytes), row * rowBytes);
  return packed;
}

/** A file whose tags cannot be read still has its picture. */
async function readTags(bytes: Buffer): Promise<Tags> {
  const metadata = await sharp(bytes, { limitInputPixels: false }).metadata().catch(() => undefined);
  return { icc: metadata?.icc, exif: metadata?.exif === undefined ? undefined : uprightExif(metadata.exif) };
}
