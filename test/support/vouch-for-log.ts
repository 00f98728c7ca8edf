import type { NatsConnection } from '@nats-io/transport-node';
import { LOG_STATE_SUBJECT, type LogStateReply } from '../../shared/log-state/messages.ts';

/** Answers in place of the projections, for a test of workers without read models, that the log is the right one (D96). */
export function vouchForLog(nc: NatsConnection): void {
  const reply: LogStateReply = { ok: true, state: 'right' };
  nc.subscribe(LOG_STATE_SUBJECT, { callback: (_error, message) => void message.respond(JSON.stringify(reply)) });
}
