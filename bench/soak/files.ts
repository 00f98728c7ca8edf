import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { normalizeFormat, type FormatName } from '../../shared/domain/catalogue/formats.ts';

/** A file to convert: its format is what its name says. */
export interface SoakFile {
  readonly path: string;
  readonly format: FormatName;
}

/**
 * Files below a folder whose names end as a format does, in an order that mixes folders and formats and is the same in
 * every run; `count` of them at most.
 */
export async function findFiles(folder: string, count: number, isWanted: (format: FormatName) => boolean): Promise<readonly SoakFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.flatMap((entry) => {
    const format = entry.isFile() ? normalizeFormat(extname(entry.name).slice(1)) : undefined;
    return format !== undefined && isWanted(format) ? [{ path: join(entry.parentPath, entry.name), format }] : [];
  });
  const ordered = files.map((file) => ({ file, mark: createHash('sha256').update(file.path).digest('hex') })).toSorted((a, b) => (a.mark < b.mark ? -1 : 1));
  return ordered.slice(0, count).map(({ file }) => file);
}
