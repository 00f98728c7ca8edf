import type { NatsConnection } from '@nats-io/transport-node';
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Logger } from '../shared/log/log.ts';
import { LOG_STATE_SUBJECT, PROJECTIONS_QUEUE, type LogStateReply } from '../shared/log-state/messages.ts';
import { answerRequests, requestKind, type Answering } from '../shared/nats/answer-requests.ts';
import { readModelHealth } from './health.ts';

/** Looks at once; each asks NATS and Postgres, and only services that start or reconnect want one. */
const REQUESTS_MAX = 100;

/** True when any read model has seen what the log does not have (D96). Throws `TransientError`. */
export async function isLogBehind(nc: NatsConnection, pool: Pool): Promise<boolean> {
  return (await readModelHealth(nc, pool)).some(({ halted }) => halted === 'log_behind');
}

/** Tells workers, who have no Postgres, whether the log is the right one; not known now is answered `unavailable`. */
export function answerLogState(nc: NatsConnection, pool: Pool, logger: Logger): Answering {
  const look = async (): Promise<LogStateReply> => ({ ok: true, state: (await isLogBehind(nc, pool)) ? 'behind' : 'right' });
  return answerRequests(nc, { queue: PROJECTIONS_QUEUE, requestsMax: REQUESTS_MAX, kinds: [requestKind(LOG_STATE_SUBJECT, z.object({}), look)] }, logger);
}
