import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of package.json, found upwards from this file, so that it is the same for the sources and for `dist/`.
 * @throws Error when no folder above has one, which only a broken installation can cause.
 */
export function findProjectRoot(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error('package.json is missing above the installed program');
  }
}
