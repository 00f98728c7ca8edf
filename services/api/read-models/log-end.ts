import type { NatsConnection } from '@nats-io/transport-node';
import { openLogCheck, readableEnd, type StreamState } from '../../../projections/log-check.ts';
import { shareNextLook } from '../../../shared/consume/share-next-look.ts';
import type { LogWatch, WatchedStream } from '../long-poll/log-watch.ts';

/**
 * Position of the last event that a stream has, by its leader; 0 when it has none. It counts what another process has appended a moment ago, of
 * which this one may not have heard yet. Throws `TransientError('nats')`.
 */
export type LogEnd = (stream: WatchedStream) => Promise<number>;

/**
 * Asks the server, once for all requests that are waiting. A leader that has lost its office without knowing it answers
 * too little, so what this process has seen itself counts in any case.
 */
export async function openLogEnd(nc: NatsConnection, logWatch: LogWatch): Promise<LogEnd> {
  const check = await openLogCheck(nc);
  const lookAt = (stream: WatchedStream): (() => Promise<StreamState>) => shareNextLook(() => check.readState(stream));
  const looks: Readonly<Record<WatchedStream, () => Promise<StreamState>>> = { JOBS: lookAt('JOBS'), CREDITS: lookAt('CREDITS'), DELIVERIES: lookAt('DELIVERIES') };
  return async (stream) => {
    const state = await looks[stream]();
    const seen = logWatch.seen(stream);
    return seen > state.lastPosition ? seen : readableEnd(state);
  };
}
