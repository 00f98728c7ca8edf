import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { findProjectRoot } from './project-root.ts';

/** Where a tool may lie below `.tools/`: as a file of its name, or in the tree of an unpacked package. */
const PLACES = (name: string): readonly string[] => [name, join(name, name), join(name, 'usr/bin', name), join(name, 'bin', name)];

/** The folder into which set-up brings programs that npm cannot bring. */
export function toolsFolder(): string {
  return join(findProjectRoot(), '.tools');
}

/**
 * Absolute path of a program: the operator's own choice, else the first on the PATH, else what set-up brought into
 * `.tools/`. An operator's choice that cannot be run gives undefined; it is never passed over in silence.
 *
 * The PATH is the one piece of environment read here instead of in a configuration: it belongs to the process, as
 * the working folder does.
 */
export function findTool(name: string, configured?: string, searchPath: string = process.env['PATH'] ?? ''): string | undefined {
  if (configured !== undefined && configured !== '') return resolveRunnable(configured);
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const candidates = [...folders.map((folder) => join(folder, name)), ...PLACES(name).map((place) => join(toolsFolder(), place))];
  return candidates.map(resolveRunnable).find((path) => path !== undefined);
}

function resolveRunnable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? resolve(path) : undefined;
  } catch {
    return undefined;
  }
}
