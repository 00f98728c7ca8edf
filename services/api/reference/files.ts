import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { REFERENCE_SCRIPT } from './page.ts';

/** A file of the reference, ready to be sent. */
export type ReferenceFile = {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** In quotes, as the header has it. */
  readonly etag: string;
};

/** Files of the library that the page uses; no other file of it is served. */
const LIBRARY_FILES: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Reads all files of the reference into memory, two megabytes in all. Throws when the library is not installed. */
export function readReferenceFiles(): ReadonlyMap<string, ReferenceFile> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const files = new Map(Object.entries(LIBRARY_FILES).map(([name, contentType]) => [name, fileOf(contentType, readFileSync(join(folder, name)))]));
  return files.set('start.js', fileOf('text/javascript; charset=utf-8', Buffer.from(REFERENCE_SCRIPT)));
}

function fileOf(contentType: string, bytes: Buffer): ReferenceFile {
  return { contentType, bytes, gzipped: gzipSync(bytes), etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"` };
}
