import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Client } from 'pg';
import { startReader } from '../shared/consume/reader.ts';
import { TransientError } from '../shared/errors/errors.ts';
import type { StoredEvent } from '../shared/events/envelope.ts';
import type { Logger } from '../shared/log/log.ts';
import { createClient } from '../shared/postgres/pool.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import { advance, LogBehindError } from './advance.ts';
import { holdsLease, keepLeaseShort } from './lease.ts';
import type { LogCheck } from './log-check.ts';
import { markHalted, readPosition } from './positions.ts';
import { projectedSubject, type Projection } from './projection.ts';

/** Wait after Postgres or NATS was away, in ms. */
const RETRY_MS = 500;
/** How often a waiting process asks whether the active one is gone, and an active one looks at its reader, in ms. */
const TICK_MS = 500;

/** Wait for a clean end of the connection, in ms; one that the network swallowed never answers. */
const END_MS_MAX = 1_000;

/** What all followers of a process share. */
export type FollowerContext = {
  readonly nc: NatsConnection;
  readonly databaseUrl: string;
  readonly log: LogCheck;
  readonly logger: Logger;
  /** How often the log is compared with what was read while nothing happens, in ms. */
  readonly logCheckMs: number;
};

type Ended = 'stopped' | 'again' | 'defect';

/** Keeps one read model up to date, as the only process that does so, until `signal` is aborted or it met a defect. */
export async function follow(context: FollowerContext, projection: Projection, signal: AbortSignal): Promise<void> {
  const logger = context.logger.child({ projection: projection.name });
  while (!signal.aborted) {
    try {
      if ((await runSession({ ...context, logger }, projection, signal)) === 'defect') return;
    } catch (error) {
      logger.warn({ err: error }, 'the projection begins again');
    }
    await pause(RETRY_MS, signal);
  }
}

/** One connection, which holds the lease and writes; when it ends, another process may take over. */
async function runSession(context: FollowerContext, projection: Projection, signal: AbortSignal): Promise<Ended> {
  const lost = new AbortController();
  const client = createClient(context.databaseUrl, `projection ${projection.name}`, () => lost.abort());
  const ended = AbortSignal.any([signal, lost.signal]);
  try {
    await client.connect();
    await keepLeaseShort(client);
    while (!(await holdsLease(client, projection.name))) {
      await pause(TICK_MS, ended);
      if (ended.aborted) return 'stopped';
    }
    context.logger.info('this process keeps the read model now');
    return await readOn(context, projection, client, ended, () => lost.abort());
  } catch (error) {
    throw toTransient(error);
  } finally {
    await Promise.race([client.end(), delay(END_MS_MAX)]).catch(() => undefined);
  }
}

async function readOn(context: FollowerContext, projection: Projection, client: Client, ended: AbortSignal, lose: () => void): Promise<Ended> {
  const { nc, log, logger } = context;
  const state = await log.readState(projection.stream);
  const verified = async (): Promise<number> => {
    const place = await readPosition(client, projection.name);
    if (!(await log.stillHolds(place))) throw new LogBehindError(projection, place.position);
    return place.position;
  };
  const apply = async (events: readonly StoredEvent[]): Promise<void> => {
    try {
      const position = await advance(client, projection, events, log);
      nc.publish(projectedSubject(projection.name), String(position));
    } catch (error) {
      // A connection after an error of its own is not used again; a new session asks for the lease anew.
      if (error instanceof TransientError && error.dependency === 'postgres') lose();
      throw error;
    }
  };
  await verifyUntilBehindEnds(context, projection, client, ended, verified);
  if (ended.aborted) return 'stopped';
  await markHalted(client, projection.name, undefined, state.created);
  const reader = startReader(nc, { stream: projection.stream, position: verified, apply }, logger);
  try {
    let lastCheck = performance.now();
    while (!ended.aborted && reader.halted() === undefined) {
      await pause(TICK_MS, ended);
      if (ended.aborted || performance.now() - lastCheck < context.logCheckMs) continue;
      lastCheck = performance.now();
      if (!(await isVerified(verified))) return 'again';
    }
    const cause = reader.halted()?.cause;
    if (cause === undefined || cause instanceof LogBehindError) return 'again';
    await markHalted(client, projection.name, 'defect');
    return 'defect';
  } finally {
    await reader.stop();
  }
}

/** With another log than the one that was read, nothing is applied; looked at again until an operator has acted. */
async function verifyUntilBehindEnds(context: FollowerContext, projection: Projection, client: Client, ended: AbortSignal, verified: () => Promise<number>): Promise<void> {
  for (let said = false; !ended.aborted && !(await isVerified(verified)); said = true) {
    if (!said) {
      await markHalted(client, projection.name, 'log_behind');
      context.logger.fatal('halted: the log is behind the read model, or another log; put the right one back, or rebuild the read model');
    }
    await pause(context.logCheckMs, ended);
  }
}

async function isVerified(verified: () => Promise<number>): Promise<boolean> {
  try {
    await verified();
    return true;
  } catch (error) {
    if (error instanceof LogBehindError) return false;
    throw error;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
