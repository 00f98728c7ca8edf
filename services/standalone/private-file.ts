import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';

/** Writes a file that only its owner may read, whole or not at all, and on disk when this returns. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

/** The secret that is kept in a file; on the first call `make` makes it. */
export async function keepSecret(path: string, make: () => string): Promise<string> {
  const known = await readFile(path, 'utf8').catch(ignoreMissing);
  if (known !== undefined && known.trim() !== '') return known.trim();
  const secret = make();
  await writePrivateFile(path, `${secret}\n`);
  return secret;
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
