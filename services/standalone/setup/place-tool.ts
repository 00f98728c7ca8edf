import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { toolsFolder } from '../../../shared/tools/find-tool.ts';

/** Puts a program into `.tools/` under `name`, whole or not at all, and returns its path. */
export async function placeTool(name: string, file: string): Promise<string> {
  const folder = toolsFolder();
  const target = join(folder, name);
  const unfinished = join(folder, `.${name}-${randomBytes(4).toString('hex')}`);
  await mkdir(folder, { recursive: true });
  await copyFile(file, unfinished);
  await chmod(unfinished, 0o755);
  await rename(unfinished, target);
  return target;
}
