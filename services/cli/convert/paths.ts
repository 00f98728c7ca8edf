import { openAsBlob } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { UsageError } from '../command.ts';

/** Opens the file to convert. Throws `UsageError` when it is none, or cannot be read. */
export async function openSource(file: string): Promise<Blob> {
  if (await isFolder(file)) throw new UsageError(`${file} is a folder; name a file in it`);
  try {
    // It throws on the spot when there is no such file.
    return await openAsBlob(file);
  } catch (cause) {
    throw new UsageError(`cannot read ${file}`, { cause });
  }
}

/** The format that a file has by its name. Throws `UsageError` when the name tells none. */
export function formatOf(file: string): string {
  const format = extname(file).slice(1);
  if (format === '') throw new UsageError(`the name of ${file} does not tell its format; say it, such as --input-format jpg`);
  return format;
}

/** Beside the source under the same name. The source itself is never written over unasked. Throws `UsageError`. */
export async function chooseOutput(file: string, format: string): Promise<string> {
  const path = join(dirname(file), `${basename(file, extname(file))}.${format}`);
  const [source, target] = await Promise.all([stat(file), stat(path).catch(() => undefined)]);
  if (target?.dev === source.dev && target.ino === source.ino) throw new UsageError(`the result would replace ${file}; name another file with -o`);
  return path;
}

/** Where the result is written until it is whole. */
export function partialPath(path: string): string {
  return `${path}.part`;
}

/** Tries to write where the result will go, before a credit is spent on it. Throws `UsageError`. */
export async function requireWritable(path: string): Promise<void> {
  if (await isFolder(path)) throw new UsageError(`${path} is a folder; name a file in it with -o`);
  try {
    await writeFile(partialPath(path), '');
    // Another command that tries the same path may have removed it already.
    await rm(partialPath(path), { force: true });
  } catch (cause) {
    throw new UsageError(`cannot write ${path}; name another file with -o`, { cause });
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
