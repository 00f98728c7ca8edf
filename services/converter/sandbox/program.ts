import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

/** A command and what it must be able to read besides the system. */
export interface Program {
  /** Absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute paths shown read-only inside the sandbox. */
  readonly readable: readonly string[];
}

/** What a program of ours reads when it runs compiled, as it does in production, and when it runs from its sources. */
const COMPILED = ['dist', 'node_modules', 'package.json'] as const;
const SOURCES = ['services', 'shared', 'node_modules', 'package.json', 'tsconfig.json'] as const;

/** Heap of a Node child, MiB: our programs keep file contents outside of it, so more would only hide a leak. */
const HEAP_MIB = 512;

/** How to run a TypeScript program of this project with Node, given its path without extension. */
export function nodeProgram(pathWithoutExtension: string): Program {
  const root = findProjectRoot();
  const node = realpathSync(process.execPath);
  const fromSources = import.meta.filename.endsWith('.ts');
  const loader = fromSources ? ['--import', import.meta.resolve('tsx')] : [];
  return {
    command: node,
    args: [`--max-old-space-size=${HEAP_MIB}`, ...loader, `${pathWithoutExtension}${fromSources ? '.ts' : '.js'}`],
    readable: [node, ...(fromSources ? SOURCES : COMPILED).map((name) => join(root, name))],
  };
}
