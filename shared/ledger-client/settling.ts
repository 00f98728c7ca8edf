import type { ConsumerInfo } from '@nats-io/jetstream';

/** Durable with which ledgers follow the ends of jobs. */
export const SETTLE_DURABLE = 'ledger-settle';

/** True when the ledgers have settled every job that ended at or before a position of `JOBS`; `info` is of that durable. */
export function isSettled({ ack_floor, num_pending, num_ack_pending }: ConsumerInfo, position: number): boolean {
  return ack_floor.stream_seq >= position || (num_pending === 0 && num_ack_pending === 0);
}
