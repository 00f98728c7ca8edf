import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { tellParent } from '../lifecycle/tell-parent.ts';
import type { Logger } from '../log/log.ts';
import { LOG_STATE_SUBJECT, logStateReply, type LogState } from './messages.ts';

/** How long an answer may take, in ms: the projections ask NATS and Postgres for it. */
const ANSWER_MS_MAX = 5_000;
/** First pause when nobody could tell, in ms, because services of one machine start within a second; it doubles. */
const FIRST_WAIT_MS = 250;
/** Longest pause before the next question, also while an operator has to decide, in ms. */
const LONGEST_WAIT_MS = 2_000;
/** Exit code of a worker that finds itself on another log. */
const EXIT_OTHER_LOG = 1;

/**
 * Waits until the projections say that the log is the one they know, however long: a worker that appends to an older log
 * takes the place of events that clients have been told of, and removes files that the right log still needs (D96).
 * From then on every connection to NATS that was lost and found again is judged anew, since a log is exchanged while its
 * server stands still; on a wrong one the process ends at once, and its successor waits here.
 */
export async function untilLogIsRight(nc: NatsConnection, logger: Logger): Promise<void> {
  let before: LogState | 'unknown' | undefined;
  for (let question = 0; ; question += 1) {
    const state = await askLogState(nc);
    if (state === 'right') break;
    if (state !== before) sayWhyNotYet(state, logger);
    before = state;
    await delay(state === 'behind' ? LONGEST_WAIT_MS : pauseAfter(question));
  }
  void endOnOtherLog(nc, logger);
}

function sayWhyNotYet(state: 'behind' | 'unknown', logger: Logger): void {
  if (state === 'unknown') return logger.info('waiting for the projections, which know whether the log is the right one');
  logger.error('the log is behind the read models: this service does nothing until an operator decides');
  tellParent('held');
}

async function endOnOtherLog(nc: NatsConnection, logger: Logger): Promise<void> {
  for await (const { type } of nc.status()) {
    if (type !== 'reconnect') continue;
    if ((await askUntilKnown(nc)) !== 'behind') continue;
    logger.fatal('another log was put in place: this service ends at once');
    process.exit(EXIT_OTHER_LOG);
  }
}

/** Nothing is known while the projections are away, who lost the same server; they come back or the connection closes. */
async function askUntilKnown(nc: NatsConnection): Promise<LogState | undefined> {
  for (let question = 0; !nc.isClosed(); question += 1) {
    const state = await askLogState(nc);
    if (state !== 'unknown') return state;
    await delay(pauseAfter(question));
  }
  return undefined;
}

function pauseAfter(question: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** question);
}

async function askLogState(nc: NatsConnection): Promise<LogState | 'unknown'> {
  try {
    const message = await nc.request(LOG_STATE_SUBJECT, '{}', { timeout: ANSWER_MS_MAX });
    const reply = logStateReply.parse(JSON.parse(message.string()));
    return reply.ok ? reply.state : 'unknown';
  } catch {
    return 'unknown';
  }
}
