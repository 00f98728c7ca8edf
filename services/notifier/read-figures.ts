import { isoTime } from '../../shared/clock/clock.ts';
import type { NotifierContext } from './context.ts';
import type { Readings } from './figures.ts';

/** What the copies and the places say now, beside what is counted. */
export function readFigures({ clock, deliveries, accounts, places }: Pick<NotifierContext, 'clock' | 'deliveries' | 'accounts' | 'places'>): Readings {
  const nowMs = clock.nowMs();
  const oldest = deliveries.tables.findOldestDue(isoTime(nowMs));
  return { oldestDueAgeMs: oldest === undefined ? 0 : Math.max(0, nowMs - Date.parse(oldest)), endpointsDisabled: accounts.countDisabledWebhooks(), running: places.running };
}
