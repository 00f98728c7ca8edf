import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Defect } from '../../../shared/errors/errors.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

/** A command and what it must be able to read besides the system. */
export interface Program {
  /** Absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute paths shown read-only inside the sandbox. */
  readonly readable: readonly string[];
}

/** All that a compiled program of ours reads; settings, data and sources stay outside. */
const READABLE = ['dist', 'node_modules', 'package.json'] as const;

/** Heap of a Node child, MiB: our programs keep file contents outside of it, so more would only hide a leak. */
const HEAP_MIB = 512;

/**
 * How to run a program of this project with Node, given its path in the project without extension. It is always the
 * compiled one, also in tests: it starts five times faster, and it is what runs in production.
 * @throws Defect when the project has not been built.
 */
export function nodeProgram(path: string): Program {
  const root = findProjectRoot();
  const compiled = join(root, 'dist', `${path}.js`);
  if (!existsSync(compiled)) throw new Defect(`dist/${path}.js is missing; npm run build makes it`);
  const node = realpathSync(process.execPath);
  return {
    command: node,
    args: [`--max-old-space-size=${HEAP_MIB}`, compiled],
    readable: [node, ...READABLE.map((name) => join(root, name))],
  };
}
