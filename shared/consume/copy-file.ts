import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Files that SQLite keeps beside a database. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'] as const;

/** True when SQLite says that a file is damaged, or is none of its own. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && (error.code.startsWith('SQLITE_CORRUPT') || error.code === 'SQLITE_NOTADB');
}

/** Removes a copy with everything SQLite keeps beside it. Whoever has it open goes on with what has no name any more. */
export function removeCopyFile(path: string): void {
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
}

/**
 * Opens a copy for this process alone; undefined when another one has it. The lock is held by the operating system until
 * this process ends, however it ends. A file that cannot be read is removed and made anew.
 */
export function openExclusively(path: string): Database.Database | undefined {
  try {
    return tryOpen(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    removeCopyFile(path);
    return tryOpen(path);
  }
}

/** Reads the whole file: a damaged page must not wait until the one decision that needs it. */
export function isIntact(database: Database.Database): boolean {
  return database.pragma('quick_check(1)', { simple: true }) === 'ok';
}

function tryOpen(path: string): Database.Database | undefined {
  const database = new Database(path, { timeout: 0 });
  try {
    database.pragma('locking_mode = exclusive');
    // After a power cut the copy is what it was at some earlier moment, position and rows alike. Without waiting for the
    // disk some pages would be of before and some of after, and nothing would tell.
    database.pragma('journal_mode = wal');
    database.pragma('synchronous = normal');
    database.exec('begin exclusive; commit');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
}
