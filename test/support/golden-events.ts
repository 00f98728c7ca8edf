import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../shared/tools/project-root.ts';

const FOLDER = join(findProjectRoot(), 'test/fixtures/events');
const CHECKSUMS = 'SHA256SUMS';

/** A stored event as it was once written; these files are added and never changed. */
export type GoldenEvent = { readonly name: string; readonly bytes: Buffer; readonly sha256: string };

/** All golden events, by name. */
export function readGoldenEvents(): GoldenEvent[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const bytes = readFileSync(join(FOLDER, name));
      return { name, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
}

/** Checksum of each golden event as it was when it was added. */
export function readGoldenChecksums(): ReadonlyMap<string, string> {
  const lines = readFileSync(join(FOLDER, CHECKSUMS), 'utf8').trimEnd().split('\n');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}
