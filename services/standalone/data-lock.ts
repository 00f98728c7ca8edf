import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** Somebody else runs on the same data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
}

/** The claim on a data folder. */
export interface DataLock {
  release(): void;
}

/**
 * Claims a data folder for this process. The claim is a lock of the operating system on an open file: it ends with the
 * process, also by kill -9, so there is nothing stale to clean up. The pid beside it only serves the message.
 * @throws DataFolderInUse naming the process that holds it.
 */
export function lockDataFolder(folder: string): DataLock {
  const pidFile = join(folder, 'lock.pid');
  const lockFile = join(folder, 'lock.sqlite');
  // Made here so that nobody else may open, and by that hold, the lock.
  closeSync(openSync(lockFile, 'a', 0o600));
  const database = new Database(lockFile, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new DataFolderInUse(`${folder} is in use by ${describeHolder(pidFile)}. Stop that one first, or choose another DATA_DIR.`);
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return { release: () => database.close() };
}

function describeHolder(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
