import type { JetStreamManager } from '@nats-io/jetstream';
import { toTransient } from './transient.ts';

/**
 * True when `position` lies before the first event that a stream has left, and the stream is one that keeps its events
 * for a time only. In every other stream a missing position is a broken log. Throws `TransientError`.
 */
export async function hasAgedOut(manager: JetStreamManager, stream: string, position: number): Promise<boolean> {
  try {
    const { config, state } = await manager.streams.info(stream);
    return config.max_age > 0 && position < state.first_seq;
  } catch (error) {
    throw toTransient(error);
  }
}
