import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Defect, TransientError } from '../errors/errors.ts';
import { hashOf, type StoredEvent } from '../events/envelope.ts';
import type { Logger } from '../log/log.ts';
import { hasAgedOut } from '../nats/aged-out.ts';
import { isDamage, isIntact, openExclusively, removeCopyFile } from './copy-file.ts';
import { startReader, type RunningReader } from './reader.ts';

/** Raised when the table of the copies' own state changes, or how a copy is written. */
const FORM = 3;
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
  /** Told when the file turns out damaged while it is used; it is removed by then. Without it the process ends. */
  readonly onDamaged?: (error: unknown) => void;
};

/** A copy that follows its stream. */
export type LocalCopy = { readonly database: Database.Database; readonly reader: RunningReader; readonly stop: () => Promise<void> };

/**
 * Opens a copy and follows the stream. A file that belongs to another stream (the log was put back or replaced) or to
 * another version of the tables, or that is damaged, is thrown away and filled anew. One that turns out damaged later is
 * removed, and the process ends: whoever keeps it running starts it again, with an empty copy.
 */
export async function openLocalCopy(nc: NatsConnection, definition: CopyDefinition, logger: Logger): Promise<LocalCopy> {
  const log = await openLog(nc, definition);
  const { database, path } = await openFile(definition, log);
  const readPosition = database.prepare<[], { position: number }>('select position from copy_state');
  const writePosition = database.prepare<[number, string, number]>('update copy_state set position = ?, hash = ? where position = ?');
  const position = (): number => readPosition.get()?.position ?? 0;
  const apply = database.transaction((events: readonly StoredEvent[]) => {
    for (const event of events) {
      const before = position();
      if (event.position <= before) continue;
      definition.apply(database, event);
      if (writePosition.run(event.position, event.hash, before).changes !== 1) throw new Defect('another process writes the same local copy');
    }
  });
  const applyOrRemove = (events: readonly StoredEvent[]): void => {
    try {
      apply.immediate(events);
    } catch (error) {
      if (path === undefined || !isDamage(error)) throw error;
      logger.fatal({ err: error, copy: definition.name }, 'the local copy is damaged and was removed');
      removeCopyFile(path);
      (definition.onDamaged ?? endProcess)(error);
      throw error;
    }
  };
  const reader = startReader(nc, { stream: definition.stream, position, apply: applyOrRemove }, logger);
  return {
    database,
    reader,
    async stop() {
      await reader.stop();
      database.close();
    },
  };
}

/** The log as a copy is compared with it: the name of what it was made from, and whether an event is still the one that was read. */
type Log = { readonly identity: string; readonly stillHolds: (position: number, hash: string | null) => Promise<boolean> };

async function openLog(nc: NatsConnection, { stream, version }: CopyDefinition): Promise<Log> {
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    const { created } = await manager.streams.info(stream);
    return {
      identity: `${FORM}:${version}:${created}`,
      async stillHolds(seq, hash) {
        const message = await manager.streams.getMessage(stream, { seq });
        return message ? hashOf(message.data) === hash : hasAgedOut(manager, stream, seq);
      },
    };
  } catch (cause) {
    throw new TransientError('nats', `stream ${stream} cannot be read`, { cause });
  }
}

/** Not caught by anybody, so that the service stops in order and is started again. */
function endProcess(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

/** An open copy, and where its file lies; a copy in memory has none. */
type OpenFile = { readonly database: Database.Database; readonly path?: string };

async function openFile(definition: CopyDefinition, log: Log): Promise<OpenFile> {
  if (definition.folder === undefined) return { database: prepare(new Database(':memory:'), definition, log.identity) };
  mkdirSync(definition.folder, { recursive: true, mode: 0o700 });
  for (let number = 1; number <= FILES_MAX; number += 1) {
    const path = join(definition.folder, `${definition.name}-${number}.sqlite`);
    const database = openExclusively(path);
    if (!database) continue;
    if (await canGoOn(database, log)) return { database, path };
    database.close();
    removeCopyFile(path);
    const fresh = openExclusively(path);
    if (fresh) return { database: prepare(fresh, definition, log.identity), path };
  }
  throw new Defect(`${FILES_MAX} processes use local copies in one data folder already`);
}

async function canGoOn(database: Database.Database, log: Log): Promise<boolean> {
  try {
    return (await belongsTo(database, log)) && isIntact(database);
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** An older log that was put back has other events at the same positions, so the last one is compared by its hash. */
async function belongsTo(database: Database.Database, log: Log): Promise<boolean> {
  const known = database.prepare("select 1 from sqlite_master where name = 'copy_state'").get();
  if (!known) return false;
  const made = database.prepare<[], { identity: string }>('select identity from copy_state').get();
  if (made?.identity !== log.identity) return false;
  const state = database.prepare<[], { position: number; hash: string | null }>('select position, hash from copy_state').get();
  return state !== undefined && (state.position === 0 || (await log.stillHolds(state.position, state.hash)));
}

function prepare(database: Database.Database, definition: CopyDefinition, identity: string): Database.Database {
  database.exec('create table copy_state (identity text not null, position integer not null, hash text)');
  database.prepare('insert into copy_state values (?, 0, null)').run(identity);
  database.exec(definition.tables);
  return database;
}
