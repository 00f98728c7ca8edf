import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { z } from 'zod';
import { EngineFailure } from '../failure.ts';
import { heifVersion, readHeic } from './heic.ts';
import { inspectSource } from './inspect.ts';
import type { ChildTool } from './job.ts';
import { writePdf } from './pdf.ts';

/** A picture of 16 × 16 gray pixels as HEIC, made for this probe. */
const PROBE_HEIC = [
  'AAAAGGZ0eXBoZWljAAAAAG1pZjFoZWljAAABK21ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAHBpY3QAAAAAAAAAAAAAAAAAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAAB',
  'AAABSwAAAAwAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAK9pcHJwAAAAkmlwY28AAAB2aHZjQwEBYAAAAJAAAAAAADzwAPz9+PgAAA8DoAABABhAAQwB//8BYAAA',
  'AwCQAAADAAADAB6VmAmhAAEAKkIBAQFgAAADAJAAAAMAAAMAHqCIRZZWaryubgQEAggAAAMACAAAAwDIQKIAAQAGRAHBc9CJAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAVaXBtYQAAAAAA',
  'AAABAAECgYIAAAAUbWRhdAAAAAgoAa8N4FMw/g==',
].join('');

/** Sides of the picture that a tool has to convert, pixels. */
const SIDE = 16;

/**
 * Lets a library convert a tiny picture and looks at the result.
 * @returns its version
 * @throws EngineFailure `engine_crashed` when the result is not right.
 */
export async function proveTool(tool: ChildTool): Promise<string> {
  switch (tool) {
    case 'sharp':
      await expectSide(await drawProbe().webp().toBuffer());
      return sharp.versions.sharp;
    case 'libheif':
      await expectSide(await readHeic(Buffer.from(PROBE_HEIC, 'base64')));
      return heifVersion();
    case 'pdfkit':
      return provePdf();
  }
}

function drawProbe(): Sharp {
  return sharp({ create: { width: SIDE, height: SIDE, channels: 4, background: '#80808080' } });
}

async function expectSide(picture: Buffer): Promise<void> {
  const { info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true });
  if (info.width !== SIDE || info.height !== SIDE) throw new EngineFailure('engine_crashed', 'the picture has another size');
}

async function provePdf(): Promise<string> {
  const source = await inspectSource(await drawProbe().png().toBuffer(), { input: 'png', output: 'pdf', options: {} });
  await writePdf({ kind: 'convert', source: '', result: 'probe.pdf', input: 'png', output: 'pdf', options: {} }, source, {});
  const written = await readFile('probe.pdf', 'latin1');
  if (!written.startsWith('%PDF-') || !written.includes('/Picture Do')) throw new EngineFailure('engine_crashed', 'there is no picture in the PDF');
  // The package does not show its own description, but its files lie in a folder beside it.
  const description = join(dirname(createRequire(import.meta.url).resolve('pdfkit')), '..', 'package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(await readFile(description, 'utf8'))).version;
}
