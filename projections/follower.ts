import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../shared/log/log.ts';
import { createClient } from '../shared/postgres/pool.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import { holdsLease, keepLeaseShort } from './lease.ts';
import type { Projection } from './projection.ts';
import { pause, Session, type SessionParts } from './session.ts';

/** Wait after Postgres or NATS was away, in ms. */
const RETRY_MS = 500;
/** How often a waiting process asks whether the active one is gone, in ms. */
const LEASE_ASK_MS = 500;
/** Wait for a clean end of the connection, in ms; one that the network swallowed never answers. */
const END_MS_MAX = 1_000;

/** What all followers of a process share. */
export type FollowerContext = Pick<SessionParts, 'nc' | 'log' | 'logCheckMs'> & { readonly databaseUrl: string; readonly logger: Logger };

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
async function runSession(context: FollowerContext, projection: Projection, signal: AbortSignal): Promise<'again' | 'defect'> {
  const lost = new AbortController();
  const lose = (): void => lost.abort();
  const client = createClient(context.databaseUrl, `projection ${projection.name}`, lose);
  const ended = AbortSignal.any([signal, lost.signal]);
  try {
    await client.connect();
    await keepLeaseShort(client);
    while (!(await holdsLease(client, projection.name))) {
      await pause(LEASE_ASK_MS, ended);
      if (ended.aborted) return 'again';
    }
    context.logger.info('this process keeps the read model now');
    return await new Session({ ...context, projection, client, ended, lose }).run();
  } catch (error) {
    throw toTransient(error);
  } finally {
    await Promise.race([client.end(), delay(END_MS_MAX)]).catch(() => undefined);
  }
}
