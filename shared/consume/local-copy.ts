import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Defect, TransientError } from '../errors/errors.ts';
import type { StoredEvent } from '../events/envelope.ts';
import type { Logger } from '../log/log.ts';
import { startReader, type RunningReader } from './reader.ts';

/** Processes of one kind that may share a data folder; each takes a file of its own. */
const FILES_MAX = 64;

/** A copy of a stream in SQLite: disposable, filled by a reader, always consistent with one position. */
export type CopyDefinition = {
  readonly stream: string;
  /** Names the file; the version is raised when the tables change, and an older file is thrown away. */
  readonly name: string;
  readonly version: number;
  /** Folder for the file, or nothing for a copy in memory. */
  readonly folder?: string;
  readonly tables: string;
  /** Applies one event to the tables; runs inside the transaction that moves the position. */
  readonly apply: (database: Database.Database, event: StoredEvent) => void;
};

/** A copy that follows its stream. */
export type LocalCopy = { readonly database: Database.Database; readonly reader: RunningReader; readonly stop: () => Promise<void> };

/**
 * Opens a copy and follows the stream. A file that belongs to another stream (the log was put back or replaced) or to
 * another version of the tables is thrown away and filled anew.
 */
export async function openLocalCopy(nc: NatsConnection, definition: CopyDefinition, logger: Logger): Promise<LocalCopy> {
  const info = await streamIdentity(nc, definition.stream);
  const database = openFile(definition, `${definition.version}:${info.created}`, info.lastPosition);
  const readPosition = database.prepare<[], { position: number }>('select position from copy_state');
  const writePosition = database.prepare<[number, number]>('update copy_state set position = ? where position = ?');
  const position = (): number => readPosition.get()?.position ?? 0;
  const apply = database.transaction((events: readonly StoredEvent[]) => {
    for (const event of events) {
      const before = position();
      if (event.position <= before) continue;
      definition.apply(database, event);
      if (writePosition.run(event.position, before).changes !== 1) throw new Defect('another process writes the same local copy');
    }
  });
  const reader = startReader(nc, { stream: definition.stream, position, apply: (events) => apply.immediate(events) }, logger);
  return {
    database,
    reader,
    async stop() {
      await reader.stop();
      database.close();
    },
  };
}

async function streamIdentity(nc: NatsConnection, stream: string): Promise<{ readonly created: string; readonly lastPosition: number }> {
  try {
    const info = await (await jetstreamManager(nc, { checkAPI: false })).streams.info(stream);
    return { created: info.created, lastPosition: info.state.last_seq };
  } catch (cause) {
    throw new TransientError('nats', `stream ${stream} cannot be read`, { cause });
  }
}

function openFile(definition: CopyDefinition, identity: string, lastPosition: number): Database.Database {
  if (definition.folder === undefined) return prepare(new Database(':memory:'), definition, identity);
  mkdirSync(definition.folder, { recursive: true, mode: 0o700 });
  for (let number = 1; number <= FILES_MAX; number += 1) {
    const path = join(definition.folder, `${definition.name}-${number}.sqlite`);
    const database = openExclusively(path);
    if (!database) continue;
    if (belongsTo(database, identity, lastPosition)) return database;
    database.close();
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
    const fresh = openExclusively(path);
    if (fresh) return prepare(fresh, definition, identity);
  }
  throw new Defect(`${FILES_MAX} processes use local copies in one data folder already`);
}

/** The lock is held by the operating system until this process ends, however it ends. */
function openExclusively(path: string): Database.Database | undefined {
  const database = new Database(path, { timeout: 0 });
  try {
    database.pragma('locking_mode = exclusive');
    database.pragma('journal_mode = delete');
    // The stream is the truth; a copy that a crash of the machine tears is filled anew.
    database.pragma('synchronous = off');
    database.exec('begin exclusive; commit');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return undefined;
    rmSync(path, { force: true });
    throw error;
  }
}

function belongsTo(database: Database.Database, identity: string, lastPosition: number): boolean {
  const known = database.prepare("select 1 from sqlite_master where name = 'copy_state'").get();
  if (!known) return false;
  const state = database.prepare<[], { identity: string; position: number }>('select identity, position from copy_state').get();
  return state !== undefined && state.identity === identity && state.position <= lastPosition;
}

function prepare(database: Database.Database, definition: CopyDefinition, identity: string): Database.Database {
  database.exec('create table copy_state (identity text not null, position integer not null)');
  database.prepare('insert into copy_state values (?, 0)').run(identity);
  database.exec(definition.tables);
  return database;
}
