import { join } from 'node:path';

/** Path of a file in test/fixtures/files; its NOTICE.md tells where each comes from. */
export function fixturePath(name: string): string {
  return join(import.meta.dirname, '../fixtures/files', name);
}
